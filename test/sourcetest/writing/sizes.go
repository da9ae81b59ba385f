package writing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// sizes tests that a record that is too large is refused before it is read. Records of a group that are together too
// large must also be refused. Hidden fields don't count.
func sizes(t *testing.T, d *database) {
	const most = 2 << 20 // in bytes, as in docs/limits.md
	const large = most - 1000
	for id, fields := range []string{"body = NULL, hidden = '" + strings.Repeat("x", 200) + "'", "body = '" + strings.Repeat("x", large) + "'",
		"body = '" + strings.Repeat("y", large/2) + "', doc = '\"" + strings.Repeat("z", large/2+2000) + "\"'", "body = '" + strings.Repeat("x", most+1) + "'",
		"body = '" + strings.Repeat("v", large) + "'"} {
		d.run(t, fmt.Sprintf("INSERT INTO things (id) VALUES (%d)", id+1))
		d.run(t, fmt.Sprintf("UPDATE things SET %s WHERE id = %d", fields, id+1))
	}
	update := func(id int) string {
		return fmt.Sprintf(`{"op":"update","class":"things","id":"%d","data":{"small":7}}`, id)
	}
	remove := func(id int) string { return fmt.Sprintf(`{"op":"delete","class":"things","id":"%d"}`, id) }
	for _, tt := range []struct {
		writes []string
		want   string
	}{
		{[]string{update(1)}, ""},
		{[]string{update(2)}, ""},
		{[]string{remove(2)}, ""},
		{[]string{update(3)}, "the record of things has values of more than 2 MiB together"},
		{[]string{update(4)}, "the record of things has values of more than 2 MiB together"},
		{[]string{remove(4)}, "the record of things has values of more than 2 MiB together"},
		{[]string{update(1), update(2)}, ""},
		{[]string{update(2), update(5)}, "the records of this group are together larger"},
	} {
		seen, err := d.previewWrites(t, tt.writes...)
		if tt.want != "" {
			if problem.CodeOf(err) != problem.BudgetExceeded || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v: %v, want %q", tt.writes, err, tt.want)
			}
			continue
		}
		if err != nil || seen.Refusal != "" {
			t.Errorf("%v: %v %s", tt.writes, err, seen.Refusal)
		}
	}
	c := d.newApprovedChange(t, update(2))
	if _, err := d.apply(t, c, 1); err != nil {
		t.Errorf("apply: %v", err)
	}
}

package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestKeys reads the records of tables with keys of each type one by one. Each record must come once, with its shown
// key, in the order of the shown texts or numbers.
func TestKeys(t *testing.T) {
	keys := []struct{ typ, values, want string }{
		{"inet", "10.0.0.1 10.0.0.1/16 10.0.0.10 9.1.1.1 ::1 ::1/0", "10.0.0.1 10.0.0.1/16 10.0.0.10 9.1.1.1 ::1 ::1/0"},
		{"cidr", "10.0.0.0/8 10.0.0.0/32 10.0.0.0/16", "10.0.0.0/16 10.0.0.0/32 10.0.0.0/8"},
		{"macaddr", "08:00:2b:01:02:04 08:00:2b:01:02:03", "08:00:2b:01:02:03 08:00:2b:01:02:04"},
		{"time", "10:00 9:30 09:30:00.5", "09:30:00 09:30:00.5 10:00:00"},
		{"interval", "P1D PT90M P2M", "P1D P2M PT1H30M"},
		{"money", "10.00 9.50 -3", "-3.00 9.50 10.00"},
		{"real", "0.3 0.1 0.2", "0.1 0.2 0.3"},
		{"uuid", "b0000000-0000-0000-0000-000000000000 a0000000-0000-0000-0000-000000000000", "a0000000-0000-0000-0000-000000000000 b0000000-0000-0000-0000-000000000000"},
		{"char(4)", "b a ab", "a ab b"},
		{"bit(2)", "10 01", "01 10"},
	}
	url := services.Postgres(t)
	for n, k := range keys {
		run(t, connect(t, url), fmt.Sprintf("CREATE TABLE k%d (id %s PRIMARY KEY); INSERT INTO k%[1]d VALUES ('%[3]s')", n, k.typ, strings.Join(strings.Fields(k.values), "'), ('")))
	}
	src, err := Open(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	for n, k := range keys {
		q := &query.Find{Class: fmt.Sprintf("k%d", n), Keys: []query.Path{{"id"}}, Limit: 1}
		var got []string
		for at := (*policy.Position)(nil); len(got) < 9; {
			page, place := onePage(t, src, p, q, at)
			if page == nil {
				break
			}
			got, at = append(got, page...), &policy.Position{After: place}
		}
		if strings.Join(got, " ") != k.want {
			t.Errorf("keys of type %s: %s, want %s", k.typ, got, k.want)
		}
	}
}

// onePage returns the first fields of the records of a page, and the position after the last record. The position
// ends with the key.
func onePage(t *testing.T, src *Source, p *policy.Policy, q *query.Find, at *policy.Position) (out []string, place value.Row) {
	t.Helper()
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, q)
	if err != nil {
		t.Fatal(err)
	}
	if at != nil {
		if permit, err = permit.From(*at); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := src.Read(t.Context(), permit)
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		if len(out) < q.Limit {
			out, place = append(out, row[0].String()), slices.Clone(row[len(row)-len(q.Order)-1:])
		}
	}
	return out, place
}

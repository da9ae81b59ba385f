package guides

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFirstAnswer takes the way of a new user with the tables of five applications: init, check, a question. The output
// of init is used as it is, and the answer must be right. With -v it prints how long that takes, for
// docs/benchmarks.md.
func TestFirstAnswer(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bailiwick")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/bailiwick").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, app := range []struct{ name, class, field, live string }{
		{"wordpress", "wp_posts", "post_title", "'publish' AS post_status"},
		{"directus", "directus_files", "title", ""},
		{"ghost", "posts", "title", "'published' AS status"},
		{"django", "django_flatpage", "title", ""},
		{"redmine", "issues", "subject", ""},
	} {
		t.Run(app.name, func(t *testing.T) {
			dir := t.TempDir()
			recorded, err := os.ReadFile("../../internal/scaffold/testdata/applications/" + app.name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			_, tables, _ := strings.Cut(string(recorded), "\n")
			var script strings.Builder
			n := 0
			for line := range strings.Lines(tables) {
				table, columns, _ := strings.Cut(strings.TrimSpace(line), ":")
				n++
				fmt.Fprintf(&script, "CREATE TABLE %q (", table)
				for i, column := range strings.Fields(columns) {
					sep, typ := ", ", "TEXT"
					if i == 0 {
						sep, typ = "", "INTEGER PRIMARY KEY"
					}
					fmt.Fprintf(&script, "%s%q %s", sep, strings.TrimRight(column, "!?"), typ)
				}
				script.WriteString(");\n")
			}
			fmt.Fprintf(&script, "INSERT INTO %q (%q) VALUES ('The first answer');\n", app.class, app.field)
			if value, column, ok := strings.Cut(app.live, " AS "); ok {
				fmt.Fprintf(&script, "UPDATE %q SET %q = %s;\n", app.class, column, value)
			}
			filled(t, filepath.Join(dir, "app.db"), script.String())
			begun := time.Now()
			var out []byte
			for _, args := range [][]string{
				{"init", "sqlite:app.db", "--out", "bailiwick.yaml"},
				{"check"},
				{"call", "query_class", fmt.Sprintf(`{"class_name":%q,"keys":[%q]}`, app.class, app.field)},
			} {
				cmd := exec.Command(program, args...)
				cmd.Dir = dir
				if out, err = cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			if !strings.Contains(string(out), "The first answer") {
				t.Errorf("the answer is\n%s", out)
			}
			t.Logf("%s: %d tables, %.1f s from init to the first answer, no edit by hand", app.name, n, time.Since(begun).Seconds())
		})
	}
}

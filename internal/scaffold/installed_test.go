package scaffold

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

var update = flag.Bool("update", false, "record the names of tables and columns of installed applications")

// TestInstalled installs applications from npm, which create their tables by their own migrations. Their names must
// equal the recorded names, and all names of the preset must exist. The unedited configuration of "bailiwick init"
// must show no secret, and a question must be answered. The test prints the time from init to the answer for
// docs/benchmarks.md.
func TestInstalled(t *testing.T) {
	cache := os.Getenv("APPLICATIONS_CACHE")
	if cache == "" {
		t.Skip("LEFT OUT: applications that make their own tables, which come from npm: make applications")
	}
	program := filepath.Join(t.TempDir(), "bailiwick")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/bailiwick").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		name, preset string
		server       func(testing.TB) string
		class, field string
		want         string // an expected value of the field
	}{
		{"directus", "Directus", services.Postgres, "directus_roles", "name", "Administrator"},
		{"strapi", "Strapi", services.Postgres, "up_roles", "name", "Authenticated"},
		{"ghost", "Ghost", services.MariaDB, "posts", "title", "Coming soon"},
		{"parse", "Parse Server", services.Postgres, "_User", "username", "ana"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := tt.server(t)
			if out, err := exec.Command("../../scripts/applications/run", "migrate", tt.name, url).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
			}
			app := sameNames(t, tt.name, described(t, url))
			found, err := recognise(app.classes)
			if err != nil || len(found) != 1 || found[0].Name != tt.preset {
				t.Fatalf("recognised as %v, %v", found, err)
			}
			checkPreset(t, app, found[0])
			dir := t.TempDir()
			run := func(args ...string) string {
				cmd := exec.Command(program, args...)
				cmd.Dir = dir
				password := regexp.MustCompile("//[^:]*:([^@]*)@").FindStringSubmatch(url)[1]
				cmd.Env = append(os.Environ(), "PGPASSWORD="+password, "MYSQL_PWD="+password)
				var errs bytes.Buffer
				cmd.Stderr = &errs
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %v\n%s%s", args, err, out, &errs)
				}
				return string(out)
			}
			begun := time.Now()
			run("init", url, "--out", "bailiwick.yaml")
			report := run("check", "--json")
			if got := run("call", "query_class", fmt.Sprintf(`{"class_name":%q,"keys":[%q]}`, tt.class, tt.field)); !strings.Contains(got, tt.want) {
				t.Errorf("the answer is\n%s", got)
			}
			t.Logf("%s: %d tables, %.1f s from init to the first answer, no edit by hand", tt.name, len(app.classes), time.Since(begun).Seconds())
			noSecrets(t, app, report)
		})
	}
}

// noSecrets checks the report of "bailiwick check". It must list visible classes, and no secret of the application
// may be visible.
func noSecrets(t *testing.T, app application, report string) {
	t.Helper()
	var checked struct {
		Classes []struct {
			Class   string
			Visible []string
		}
	}
	if err := json.Unmarshal([]byte(report), &checked); err != nil {
		t.Fatal(err)
	}
	secrets, visible := 0, 0
	for _, mark := range app.marks {
		if mark == '!' {
			secrets++
		}
	}
	for _, c := range checked.Classes {
		_, class, _ := strings.Cut(c.Class, ".")
		for _, field := range c.Visible {
			visible++
			if app.marks[class+"."+field] == '!' {
				t.Errorf("%s.%s is shown", class, field)
			}
		}
	}
	t.Logf("%s: none of %d secrets is among the %d visible fields", app.name, secrets, visible)
	if secrets < 3 || visible < 10 {
		t.Error("too few of them for that to say something")
	}
}

// described returns the classes of the database at a URL.
func described(t *testing.T, url string) []schema.Class {
	t.Helper()
	var classes []schema.Class
	var err error
	if strings.HasPrefix(url, "postgres") {
		s, openErr := postgres.Open(t.Context(), "app", url)
		if openErr != nil {
			t.Fatal(openErr)
		}
		defer s.Close()
		classes, _, err = s.Describe(t.Context())
	} else {
		s, openErr := mariadb.Open(t.Context(), "app", url)
		if openErr != nil {
			t.Fatal(openErr)
		}
		defer s.Close()
		classes, _, err = s.Describe(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

// sameNames compares the classes of a database with the recorded names, and returns the recorded application with
// these classes. With -update, it records the names instead. The marks of columns stay unchanged.
func sameNames(t *testing.T, name string, classes []schema.Class) application {
	t.Helper()
	all := applications(t)
	app := all[slices.IndexFunc(all, func(a application) bool { return a.name == name })]
	lines := func(classes []schema.Class) []string {
		var out []string
		for _, c := range classes {
			line := c.Name + ":"
			for _, f := range c.Fields {
				line += " " + f.Name
				if mark := app.marks[c.Name+"."+f.Name]; mark != 0 {
					line += string(mark)
				}
			}
			out = append(out, line)
		}
		slices.Sort(out)
		return out
	}
	want, got := lines(app.classes), lines(classes)
	if *update {
		file := filepath.Join(recorded, name+".txt")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		heading, _, _ := strings.Cut(string(text), "\n")
		if err := os.WriteFile(file, []byte(heading+"\n"+strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !slices.Equal(want, got) {
		t.Errorf("the tables and columns are\n%s\nnot those that are recorded; scripts/applications/run -update records them", strings.Join(got, "\n"))
	}
	app.classes = classes
	return app
}

package scaffold

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyreport"
	"github.com/bailiwick-dev/bailiwick/internal/scaffold/presets"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// An application is a real one's schema: tables and columns by name, and which columns hold secrets.
type application struct {
	name    string
	classes []schema.Class
	marks   map[string]byte // by "table.column": '!' for a secret, '?' for one that may hold secrets
}

// applications reads testdata/applications.txt: "= name" begins an application, "table: column column" is one of its
// tables. A column that holds credentials, or what verifies them, ends with "!". One that only may hold some, such as a
// free text or a part of a key, ends with "?" and counts neither way.
func applications(t *testing.T) []application {
	t.Helper()
	f, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []application
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "= "); ok {
			out = append(out, application{name: name, marks: map[string]byte{}})
			continue
		}
		table, columns, _ := strings.Cut(s.Text(), ": ")
		app := &out[len(out)-1]
		c := schema.Class{Source: "app", Name: table, Table: table}
		for _, column := range strings.Fields(columns) {
			name := strings.TrimRight(column, "!?")
			if name != column {
				app.marks[table+"."+name] = column[len(column)-1]
			}
			c.Fields = append(c.Fields, schema.Field{Name: name, Type: schema.String})
		}
		app.classes = append(app.classes, c)
	}
	return out
}

// stores returns the classes that hold secrets: hiding all of such a class is no false alarm.
func (a *application) stores() map[string]bool {
	out := map[string]bool{}
	for _, c := range a.classes {
		for _, f := range c.Fields {
			if a.marks[c.Name+"."+f.Name] != 0 && hiddenClass(&c) != "" {
				out[c.Name] = true
			}
		}
	}
	return out
}

// TestApplications checks, on the schemas of real applications, that what init writes hides at least 99 % of the columns
// that hold secrets, and at most 3 % of the others for looking like secrets.
func TestApplications(t *testing.T) {
	var secrets, others int
	var shown, alarms []string
	apps := applications(t)
	for _, app := range apps {
		d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, app.classes, Evidence{}, Answers{Tenant: None, Personal: Show})
		if err != nil {
			t.Fatal(app.name, err)
		}
		c, err := config.Parse("bailiwick.yaml", []byte(d.Text), func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(app.name, err)
		}
		report, err := policyreport.Of(c.Rules, app.classes)
		if err != nil {
			t.Fatal(app.name, err)
		}
		stores := app.stores()
		known, err := presets.Recognise(app.classes)
		if err != nil {
			t.Fatal(app.name, err)
		}
		for i, r := range report {
			for _, f := range app.classes[i].Fields {
				at := app.classes[i].Name + "." + f.Name
				hidden := !slices.Contains(r.Visible, f.Name) || r.Masked[f.Name] == "null"
				switch app.marks[at] {
				case '?':
				case '!':
					if secrets++; !hidden {
						shown = append(shown, app.name+" "+at)
					}
				default:
					if len(known) > 0 && known[0].Classes[app.classes[i].Name].Hidden != "" {
						continue // not for what its names look like
					}
					if others++; hidden && !stores[app.classes[i].Name] {
						alarms = append(alarms, app.name+" "+at)
					}
				}
			}
		}
	}
	t.Logf("%d applications: %d of %d secrets hidden, %d of %d others hidden as well", len(apps), secrets-len(shown), secrets, len(alarms), others)
	if len(apps) < 25 || secrets < 500 || len(shown)*100 > secrets {
		t.Errorf("these secrets are shown:\n%s", strings.Join(shown, "\n"))
	}
	if len(alarms)*100 > 3*others {
		t.Errorf("these are taken for secrets:\n%s", strings.Join(alarms, "\n"))
	}
	if testing.Verbose() {
		t.Logf("shown:\n%s\ntaken for secrets:\n%s", strings.Join(shown, "\n"), strings.Join(alarms, "\n"))
	}
}

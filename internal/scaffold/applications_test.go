package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// recorded is the folder with recorded schemas. There is one file for each application.
const recorded = "testdata/applications"

// An application is the schema of a real application: its tables, its columns, and which columns contain secrets.
type application struct {
	name    string
	classes []schema.Class
	marks   map[string]byte // by "table.column": '!' marks a secret, '?' a possible secret, '@' personal data
	typed   bool            // the file contains column types. Otherwise all columns are texts
}

// applications reads the files in testdata/applications. Each line is "table: column column". A column may be
// followed by a colon and a letter for its type, and then by "#" if it belongs to a key or a pointer. A column ends
// with "!" if it contains credentials or values that verify credentials, and with "@" if it contains personal data.
// It ends with "?" if it may contain secrets, like a free text or a part of a key. Such a column is not counted.
func applications(t *testing.T) (out []application) {
	t.Helper()
	files, err := filepath.Glob(recorded + "/*.txt")
	if err != nil || len(files) < 60 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		app := application{name: strings.TrimSuffix(filepath.Base(file), ".txt"), marks: map[string]byte{}}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				app.add(line)
			}
		}
		out = append(out, app)
	}
	return out
}

// typesOf contains the types by letter.
var typesOf = map[string]schema.Type{"": schema.String, "s": schema.String, "i": schema.Integer, "n": schema.Double, "b": schema.Boolean, "t": schema.Date,
	"d": schema.Day, "j": schema.JSON, "x": schema.Bytes, "u": schema.UUID, "o": schema.Opaque}

// add adds the table of one line.
func (a *application) add(line string) {
	table, columns, _ := strings.Cut(line, ": ")
	c := schema.Class{Source: "app", Name: table, Table: table}
	for column := range strings.FieldsSeq(columns) {
		rest := strings.TrimRight(column, "!?@")
		plain := strings.TrimSuffix(rest, "#")
		name, letter, typed := strings.Cut(plain, ":")
		a.typed = a.typed || typed
		if rest != column {
			a.marks[table+"."+name] = column[len(column)-1]
		}
		switch {
		case plain == rest:
		case len(c.Key) == 0:
			c.Key = []string{name}
		default:
			c.Relations = append(c.Relations, schema.Relation{Fields: []string{name}, Target: table, TargetFields: c.Key})
		}
		c.Fields = append(c.Fields, schema.Field{Name: name, Type: typesOf[letter]})
	}
	a.classes = append(a.classes, c)
}

// stores returns the classes that contain secrets. Hiding such a class completely doesn't count as a false alarm.
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

// TestApplications checks the rules that init writes for empty tables, on schemas of real applications. The rules
// must hide at least 99 % of the columns with secrets. They may hide at most 3 % of the other columns for looking
// like secrets.
func TestApplications(t *testing.T) {
	var all outcome
	for _, app := range applications(t) {
		all.add(t, app, Evidence{})
	}
	all.check(t, 1900)
}

// An outcome counts hidden and visible columns of applications.
type outcome struct {
	secrets, others int
	shown, alarms   []string // the visible secrets, and the hidden columns without secrets
	each            []string // a line of counts for each application
}

// add counts the columns of an application that init's configuration hides.
func (o *outcome) add(t *testing.T, app application, e Evidence) {
	t.Helper()
	d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, app.classes, e, Answers{Tenant: None, Personal: Show})
	if err != nil {
		t.Fatal(app.name, err)
	}
	c, err := config.Parse("bailiwick.yaml", []byte(d.Text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(app.name, err)
	}
	report, err := policyops.Report(c.Rules, app.classes)
	if err != nil {
		t.Fatal(app.name, err)
	}
	known, err := recognise(app.classes)
	if err != nil {
		t.Fatal(app.name, err)
	}
	before, stores := *o, app.stores()
	for i, r := range report {
		for _, f := range app.classes[i].Fields {
			at := app.classes[i].Name + "." + f.Name
			hidden := !slices.Contains(r.Visible, f.Name) || r.Masked[f.Name] == "null"
			switch app.marks[at] {
			case '?':
			case '!':
				if o.secrets++; !hidden {
					o.shown = append(o.shown, app.name+" "+at)
				}
			default:
				if len(known) > 0 && known[0].Classes[app.classes[i].Name].Hidden != "" {
					continue // the reason is not its name
				}
				if o.others++; hidden && !stores[app.classes[i].Name] {
					o.alarms = append(o.alarms, app.name+" "+at)
				}
			}
		}
	}
	secrets := o.secrets - before.secrets
	o.each = append(o.each, fmt.Sprintf("%s: %d of %d secrets hidden, %d of %d others as well", app.name, secrets-len(o.shown)+len(before.shown), secrets, len(o.alarms)-len(before.alarms), o.others-before.others))
}

// check logs the counts. It fails if fewer secrets or more other columns are hidden than allowed.
func (o *outcome) check(t *testing.T, least int) {
	t.Helper()
	t.Logf("%s\n%d applications: %d of %d secrets hidden, %d of %d others hidden as well", strings.Join(o.each, "\n"), len(o.each), o.secrets-len(o.shown), o.secrets, len(o.alarms), o.others)
	if o.secrets < least || len(o.shown)*100 > o.secrets {
		t.Errorf("these secrets are shown:\n%s", strings.Join(o.shown, "\n"))
	}
	if len(o.alarms)*100 > 3*o.others {
		t.Errorf("these are taken for secrets:\n%s", strings.Join(o.alarms, "\n"))
	}
	if testing.Verbose() {
		t.Logf("shown:\n%s\ntaken for secrets:\n%s", strings.Join(o.shown, "\n"), strings.Join(o.alarms, "\n"))
	}
}

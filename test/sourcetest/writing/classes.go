package writing

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

const (
	makeNotes = `{"op":"create_class","source":"app","class":"notes","fields":[{"name":"text","type":"string","required":true},{"name":"state","type":"string","values":["new","in work"]},
		{"name":"n","type":"integer"},{"name":"x","type":"double"},{"name":"d","type":"decimal"},{"name":"b","type":"boolean"},{"name":"at","type":"date"},{"name":"day","type":"day"},
		{"name":"u","type":"uuid"},{"name":"raw","type":"bytes"},{"name":"doc","type":"json"}]}`
	dropNotes = `{"op":"delete_class","class":"notes"}`
)

// classes tests that classes are created and dropped exactly once. A class with records or with references from other
// classes must not be dropped.
func classes(t *testing.T, d *database) {
	step := func(text, want string) { t.Helper(); d.classStep(t, text, want) }
	step(makeNotes, `"" [notes] 0 again true`)
	step(makeNotes, `"there is something of this name already" conflict: there is something of this name already`)
	d.look(t)
	var fields []string
	for _, c := range d.classes {
		if c.Name == "notes" {
			for _, f := range c.Fields {
				fields = append(fields, f.Name+" "+f.Type.String())
			}
		}
	}
	decimal := map[sourcetest.Kind]string{sourcetest.SQLite: "double"}[d.Kind]
	if decimal == "" {
		decimal = "decimal"
	}
	if got, want := strings.Join(fields, ", "), "id integer, text string, state string, n integer, x double, d "+decimal+
		", b boolean, at date, day day, u uuid, raw bytes, doc json"; got != want {
		t.Errorf("the new class has\n%s\nwant\n%s", got, want)
	}
	d.run(t, `INSERT INTO notes (text, state) VALUES ('a', 'in work')`)
	if _, err := d.outside.Exec(`INSERT INTO notes (text, state) VALUES ('a', 'gone')`); err == nil {
		t.Error("a value that the class doesn't have was taken")
	}
	step(dropNotes, `"it holds records" conflict: it holds records`)
	d.run(t, `DELETE FROM notes`)
	late := d.newApprovedChange(t, dropNotes)
	step(dropNotes, `"" [notes] 0 again true`)
	if _, err := d.apply(t, late, 1); !isMoved(err) {
		t.Errorf("a class that has gone: %v", err)
	}
	step(`{"op":"delete_class","class":"comments"}`, `"records of likes lead to it" conflict: records of likes lead to it`)
	if d.Kind == sourcetest.MySQL {
		d.halfway(t)
	} else if _, err := d.apply(t, d.newApprovedChange(t, makeNotes, `{"op":"create_class","source":"app","class":"things","fields":[{"name":"a","type":"string"}]}`), 1); problem.CodeOf(err) != problem.Conflict {
		t.Errorf("two classes: %v", err)
	} else if n, err := d.outside.Exec(`SELECT * FROM notes`); err == nil {
		t.Error("half of a change was made", n)
	}
}

// classStep previews a schema change and applies it twice.
func (d *database) classStep(t *testing.T, text, want string) {
	t.Helper()
	kind := change.Executed
	if d.Kind == sourcetest.MySQL {
		kind = change.Computed
	}
	seen, err := d.previewWrites(t, text)
	if err != nil {
		t.Fatal(err)
	}
	c := d.changeFrom(t, seen, text)
	r, err := d.apply(t, c, 1)
	again, _ := d.apply(t, c, 1)
	got := fmt.Sprintf("%s %q", seen.Kind, seen.Refusal)
	if err != nil {
		got += " " + err.Error()
	} else {
		got += fmt.Sprintf(" %v %d again %v", r.Keys, r.Rows, again.Again && fmt.Sprint(again.Keys) == fmt.Sprint(r.Keys))
	}
	if got != kind+" "+want {
		t.Errorf("%s\n got %s\nwant %s %s", text, got, kind, want)
	}
}

func isMoved(err error) bool {
	_, moved := errors.AsType[*change.Moved](err)
	return moved
}

// halfway tests that an apply continues after an earlier attempt that ended between the schema change and its marker.
func (d *database) halfway(t *testing.T) {
	t.Helper()
	begun := func(c *change.Change) {
		d.run(t, fmt.Sprintf(`INSERT INTO bailiwick_applied (change_id, digest, fence) VALUES ('%s', '%s', 1)`, c.ID, c.Digest))
	}
	c := d.newApprovedChange(t, makeNotes)
	begun(c)
	if r, err := d.apply(t, d.newApprovedChange(t, makeNotes), 1); err != nil { // the result must be as if the earlier attempt had created it
		t.Fatal(r, err)
	}
	if r, err := d.apply(t, c, 2); err != nil || r.Again {
		t.Errorf("made, and not marked: %v %v", r, err)
	}
	d.look(t)
	c = d.newApprovedChange(t, dropNotes)
	begun(c)
	d.run(t, `DROP TABLE notes`)
	if r, err := d.apply(t, c, 2); err != nil || r.Again {
		t.Errorf("gone, and not marked: %v %v", r, err)
	}
	c = d.newApprovedChange(t, makeNotes)
	begun(c)
	d.run(t, `CREATE TABLE notes (other int)`)
	if r, err := d.apply(t, c, 2); problem.CodeOf(err) != problem.Conflict {
		t.Errorf("somebody else's table: %v %v", r, err)
	}
}

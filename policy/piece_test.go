package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// drafts returns a policy of papers, people and notes. Papers have a masked, a generated and a hidden field, and a
// field of a type that only the database knows. Agents may set some of the fields of notes.
func drafts(t *testing.T) *Policy {
	t.Helper()
	classes := []schema.Class{
		{Source: "app", Name: "papers", Table: "papers", Key: []string{"code"}, Relations: []schema.Relation{{Fields: []string{"author"}, Target: "people", TargetFields: []string{"id"}}},
			Fields: []schema.Field{{Name: "code", Type: schema.String}, {Name: "author", Type: schema.Integer}, {Name: "text", Type: schema.String}, {Name: "scan", Type: schema.Bytes}, {Name: "meta", Type: schema.JSON},
				{Name: "email", Type: schema.String}, {Name: "words", Type: schema.Integer, Generated: true}, {Name: "area", Type: schema.Opaque}, {Name: "secret_note", Type: schema.String}, {Name: "blurb", Type: schema.String}}},
		{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "name", Type: schema.String, NotNull: true}}},
		{Source: "app", Name: "notes", Table: "notes", Key: []string{"a", "b"}, Fields: []schema.Field{{Name: "a", Type: schema.Integer}, {Name: "b", Type: schema.Integer}, {Name: "text", Type: schema.String}}},
	}
	p, err := New(Rules{Unlisted: true, Version: "v1", Classes: map[string]ClassRule{
		"papers": {Mask: map[string]Mask{"email": Partial, "blurb": Inside}, MaskInside: map[string][]Pattern{"blurb": {"email"}}, Denied: []string{"secret_note"}}, "notes": {Permitted: []string{"text"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPieces checks which pieces of which fields can be read by themselves, and what comes with them.
func TestPieces(t *testing.T) {
	p := drafts(t)
	for _, tt := range []struct {
		field          string
		offset, length int64
		want           string
	}{
		{"text", 0, 1, "code text.part:0+1 text.size"},
		{"scan", 5, math.MaxInt32, "code scan.part:5+2147483647 scan.size"},
		{"meta", math.MaxInt32 - 1, 7, "code meta.part:2147483646+7 meta.size"},
		{"text", -1, 1, "/part: a part has an offset from 0 and a length from 1, of 31 bits each"},
		{"text", math.MaxInt32, 1, "/part: a part has an offset from 0 and a length from 1, of 31 bits each"},
		{"text", 0, 0, "/part: a part has an offset from 0 and a length from 1, of 31 bits each"},
		{"text", 0, math.MaxInt32 + 1, "/part: a part has an offset from 0 and a length from 1, of 31 bits each"},
		{"author", 0, 1, "/part/field: part reads texts, JSON and bytes beside the id. author is of type integer"},
		{"code", 0, 1, "/part/field: part reads texts, JSON and bytes beside the id. code is of type string"},
		{"txt", 0, 1, `/part/field: unknown field "txt" of papers`},
		{"secret_note", 0, 1, `/part/field: unknown field "secret_note" of papers`},
		{"email", 0, 1, "/part/field: email is masked"},
		{"blurb", 3, 5, "code blurb.part:all,3+5 blurb.size:all"},
	} {
		permit, err := p.Read(agent(), &query.Find{Class: "papers", IDs: []string{"x"}, Part: &query.Part{Field: tt.field, Offset: tt.offset, Length: tt.length}})
		var out []string
		if err != nil {
			e := problem.Of(err)
			out = append(out, e.Pointer+": "+e.Detail)
		} else {
			for _, c := range permit.plan.Columns {
				text := c.Path.String()
				if c.After != nil { // the source reads all of it
					if text += ":all"; !c.After.Size {
						text += fmt.Sprintf(",%d+%d", c.After.Offset, c.After.Length)
					}
				}
				if c.ID {
					text += "#"
				}
				if c.Piece != nil && !c.Piece.Size {
					text += fmt.Sprintf(":%d+%d", c.Piece.Offset, c.Piece.Length)
				}
				if c.Leads >= 0 {
					text += ">"
				}
				out = append(out, text)
			}
		}
		if got := strings.Join(out, " "); !strings.HasPrefix(got, tt.want) || err == nil && got != tt.want {
			t.Errorf("%s %d %d:\n got %s\nwant %s", tt.field, tt.offset, tt.length, got, tt.want)
		}
	}
}

// viewOf returns the view of a class.
func viewOf(t *testing.T, p *Policy, class string) *View {
	t.Helper()
	permit, err := p.Read(agent(), &query.Count{Class: class})
	if err != nil {
		t.Fatal(err)
	}
	return permit.plan.View
}

// TestSetting checks which fields a write can name, and how others are refused. A hidden one is refused as one that
// doesn't exist.
func TestSetting(t *testing.T) {
	p := drafts(t)
	var u Uses
	noting := p.Noting(&u)
	if _, err := viewOf(t, noting, "papers").Setting("text", "", false); err != nil || fmt.Sprint(u.List(noting)) != "[app.papers app.papers.text]" {
		t.Errorf("%v of a write, %v", u.List(noting), err)
	}
	papers, notes := viewOf(t, p, "papers"), viewOf(t, p, "notes")
	for v, want := range map[*View]string{papers: "[code author text scan meta]", notes: "[text]"} {
		if got := fmt.Sprint(v.Settable()); got != want {
			t.Errorf("%s: %s, want %s", v.Name(), got, want)
		}
	}
	for _, tt := range []struct {
		v          *View
		name, want string
	}{
		{papers, "text", "text"},
		{papers, "_id", "code"},
		{papers, "objectId", "code"},
		{notes, "_id", `unknown field "_id" of notes; those that can be set are text`},
		{papers, "words", "words"}, // a field that can't be set is refused later, in the words of the schema
		{papers, "email", "email is masked: who doesn't see it whole can't set it; "},
		{papers, "txt", `unknown field "txt" of papers; get_schema lists the fields`},
		{papers, "zzzzzzzz", `unknown field "zzzzzzzz" of papers; those that can be set are code, author, text, scan, meta`},
		{papers, "secret_note", `unknown field "secret_note" of papers; those that can be set are code, author, text, scan, meta`},
	} {
		f, err := tt.v.Setting(tt.name, "/at", false)
		got := ""
		if err == nil {
			got = f.Name
		} else if e := problem.Of(err); e.Pointer == "/at" && f == nil {
			got = e.Detail + "; " + e.Suggestion
		}
		if got != tt.want {
			t.Errorf("%s of %s:\n got %s\nwant %s", tt.name, tt.v.Name(), got, tt.want)
		}
	}
}

// TestNotAnID checks for which texts it is said that they are not ids.
func TestNotAnID(t *testing.T) {
	p := drafts(t)
	for _, tt := range []struct{ class, text, want string }{
		{"people", "x", "an id of people is of type integer. query_class finds a record by other fields"},
		{"people", "7", ""},
		{"papers", "x", ""},
		{"notes", "x", ""}, // two fields
	} {
		if got := viewOf(t, p, tt.class).NotAnID(tt.text); got != tt.want {
			t.Errorf("%s of %s: %q", tt.text, tt.class, got)
		}
	}
}

// TestColumn checks what a key of a condition refers to, and that a field behind a pointer can be null.
func TestColumn(t *testing.T) {
	permit, err := drafts(t).Read(agent(), &query.Find{Class: "papers", Where: rule(t, `{"author.name": "ann"}`)})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"text": "-1 text", "author.name": "0 name", "txt": "-1 -", "author.nme": "0 -", "writer.name": "-1 -", "author.name.x": "-1 -"} {
		join, f := permit.plan.Column(key)
		got := fmt.Sprint(join, " -")
		if f != nil {
			got = fmt.Sprint(join, " ", f.Name)
			if join >= 0 && f.NotNull {
				t.Errorf("%s is never null", key)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	name := permit.plan.Joins[0].View.Class().Field("name")
	if !name.NotNull || permit.plan.Behind(-1, name) != name || permit.plan.Behind(0, nil) != nil {
		t.Error("the field itself has changed")
	}
	text := permit.plan.View.Class().Field("text")
	if permit.plan.Behind(0, text) != text {
		t.Error("a copy of a field that can be null anyway")
	}
}

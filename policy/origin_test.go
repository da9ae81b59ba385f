package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// derivedCatalogue returns tables, views of them, views of these, and a table with generated columns.
func derivedCatalogue() []schema.Class {
	text := func(name string, from ...schema.Origin) schema.Field {
		return schema.Field{Name: name, Type: schema.String, Origins: from}
	}
	of := func(table, column string) schema.Origin { return schema.Origin{Table: table, Column: column} }
	number := schema.Field{Name: "size", Type: schema.Integer, Origins: []schema.Origin{of("people", "mail")}}
	lost := schema.Field{Name: "lost", Type: schema.String, Origins: []schema.Origin{of("people", "")}, Untraced: "an unknown expression"}
	return []schema.Class{
		{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Fields: []schema.Field{text("id"), text("name"), text("mail"), text("password"), text("note"),
			{Name: "initial", Type: schema.String, From: []string{"mail"}}, {Name: "words", Type: schema.Opaque, From: []string{"note"}}}},
		{Source: "app", Name: "tags", Table: "tags", Key: []string{"id"}, Fields: []schema.Field{text("id"), text("tag")}},
		{Source: "app", Name: "list", Table: "list", View: true, Key: []string{"id"}, Fields: []schema.Field{text("id", of("people", "id")), text("shown", of("people", "name")),
			text("both", of("people", "name"), of("people", "mail")), text("held", of("people", "password")), text("n", of("people", "note")), number, lost, text("tag", of("tags", "tag"))}},
		{Source: "app", Name: "list2", Table: "list2", View: true, Fields: []schema.Field{text("id", of("list", "id")), text("x", of("list", "both")), text("y", of("list", "held")),
			text("raw", of("logins", "secret")), text("plain", of("logins", "who")), text("any", schema.Origin{}), text("all", of("logins", ""))}},
	}
}

// TestDerived checks which fields of views and generated columns are visible, and how they are masked, by rules.
func TestDerived(t *testing.T) {
	const plain = "people id name mail note initial words; tags id tag; list id shown both n size tag; list2 id x plain"
	for _, tt := range []struct {
		name  string
		rules map[string]ClassRule
		who   []identity.Scope
		want  string
	}{
		{"by name", nil, nil, plain},
		{"masked", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Partial}}}, nil,
			"people id name mail:partial note initial:partial words; tags id tag; list id shown both:partial n size:null tag; list2 id x:null plain"},
		{"masked as null", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Null}}}, nil,
			"people id name mail:null note initial:null words; tags id tag; list id shown both:null n size:null tag; list2 id x:null plain"},
		{"the rule of the view masks more", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Partial}}, "list": {Mask: map[string]Mask{"both": Hash}}}, nil,
			"people id name mail:partial note initial:partial words; tags id tag; list id shown both:hash n size:null tag; list2 id x:null plain"},
		{"the rule of the view masks less", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Null}}, "list": {Mask: map[string]Mask{"both": Partial}}}, nil,
			"people id name mail:null note initial:null words; tags id tag; list id shown both:null n size:null tag; list2 id x:null plain"},
		{"masked but for a scope, without it", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Partial}, MaskBut: map[string]identity.Scope{"mail": identity.Audit}}}, nil,
			"people id name mail:partial note initial:partial words; tags id tag; list id shown both:partial n size:null tag; list2 id x:null plain"},
		{"masked but for a scope, with it", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Partial}, MaskBut: map[string]identity.Scope{"mail": identity.Audit}}},
			[]identity.Scope{identity.Audit}, plain},
		{"two masks, one scope", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Partial, "name": Partial}, MaskBut: map[string]identity.Scope{"mail": identity.Audit, "name": identity.Explain}}},
			[]identity.Scope{identity.Audit}, "people id name:partial mail note initial words; tags id tag; list id shown:partial both:partial n size tag; list2 id x:null plain"},
		{"two masks, both scopes", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Partial, "name": Partial}, MaskBut: map[string]identity.Scope{"mail": identity.Audit, "name": identity.Explain}}},
			[]identity.Scope{identity.Audit, identity.Explain}, plain},
		{"a mask on the key's column", map[string]ClassRule{"tags": {Mask: map[string]Mask{"tag": Partial}}}, nil,
			"people id name mail note initial words; tags id tag:partial; list id shown both n size tag:partial; list2 id x plain"},
		{"denied", map[string]ClassRule{"people": {Denied: []string{"mail", "note"}}}, nil, "people id name; tags id tag; list id shown tag; list2 id plain"},
		{"not in visible", map[string]ClassRule{"people": {Visible: []string{"name", "note"}}}, nil, "people name note; tags id tag; list shown n tag; list2 plain"},
		{"hidden", map[string]ClassRule{"people": {Hidden: true}}, nil, "tags id tag; list tag; list2 plain"},
		{"hidden but for a scope", map[string]ClassRule{"people": {Hidden: true, HiddenBut: identity.Audit}}, []identity.Scope{identity.Audit},
			"people id name mail note initial words; tags id tag; list tag; list2 plain"},
		{"lifted in the table", map[string]ClassRule{"people": {Visible: []string{"id", "name", "mail", "password", "note", "initial", "words"}, Lift: []string{"password"}}}, nil,
			"people id name mail password note initial words; tags id tag; list id shown both held n size lost tag; list2 id x y plain"},
		{"lifted in the view", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Partial}, Denied: []string{"note"}},
			"list": {Visible: []string{"id", "shown", "both", "held", "n", "size", "lost"}, Lift: []string{"both", "held", "n", "lost"}}}, nil,
			"people id name mail:partial initial:partial; tags id tag; list id shown both held n size:null lost; list2 id x y plain"},
		{"lifted and masked in the view", map[string]ClassRule{"people": {Mask: map[string]Mask{"mail": Null}},
			"list": {Visible: []string{"id", "both"}, Lift: []string{"both"}, Mask: map[string]Mask{"both": Partial}}}, nil,
			"people id name mail:null note initial:null words; tags id tag; list id both:partial; list2 id x:null plain"},
	} {
		p, err := New(Rules{Unlisted: true, Classes: tt.rules}, derivedCatalogue())
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		who := agent()
		who.Scopes = append([]identity.Scope{identity.Read, identity.Schema}, tt.who...)
		got := map[string]string{}
		for _, v := range p.Views(who) {
			text := v.Name()
			for _, f := range v.Fields() {
				text += " " + f.Name
				if m := v.Mask(f.Name); m != nil {
					text += ":" + string(m.Kind)
				}
			}
			got[v.Name()] = text
		}
		var list []string
		for _, name := range []string{"people", "tags", "list", "list2"} {
			if got[name] != "" {
				list = append(list, got[name])
			}
		}
		if text := strings.Join(list, "; "); text != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, text, tt.want)
		}
	}
}

// TestDerivedKey expects a masked column to be denied, not masked, where a view has it as its key or as a pointer.
func TestDerivedKey(t *testing.T) {
	from := func(c, f string) []schema.Origin { return []schema.Origin{{Table: c, Column: f}} }
	catalogue := []schema.Class{
		{Source: "app", Name: "t", Table: "t", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "mail", Type: schema.String}, {Name: "other", Type: schema.Integer}}},
		{Source: "app", Name: "v", Table: "v", View: true, Key: []string{"mail"}, Fields: []schema.Field{{Name: "mail", Type: schema.String, Origins: from("t", "mail")},
			{Name: "to", Type: schema.Integer, Origins: from("t", "other")}, {Name: "x", Type: schema.String, Origins: from("t", "mail")}, {Name: "y", Type: schema.String}}},
	}
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"t": {Mask: map[string]Mask{"mail": Partial, "other": Hash}}, "v": {Mask: map[string]Mask{"y": Hash},
		Pointers: map[string]Pointer{"to": {Class: "t"}}, Label: "mail", Large: []string{"x"}}}}, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.View(agent(), "v", "", false)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(v.fieldNames(), v.Key(), v.Mask("x"), v.Mask("y"), v.Label())
	if want := "[x y] [] null null"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var list []string
	for _, d := range p.Derivations() {
		list = append(list, fmt.Sprint(d.Class.Name, ".", d.Field, " ", d.Denied, d.Kind, d.From, d.Lifted))
	}
	if got, want := strings.Join(list, "; "), "v.mail trueapp.t.mailfalse; v.to trueapp.t.otherfalse; v.x falsenullapp.t.mailfalse"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

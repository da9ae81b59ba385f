package dialecttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The class odd has names that are as long as a column that holds what is stored may be, one longer, and one that is taken.
const (
	fits   = "fffffffffffffffffffffffffffffffffffffffffffffffffffff"
	longer = "llllllllllllllllllllllllllllllllllllllllllllllllllllll"
)

// A Viewed is a database for which the statements of views are shown, and its types for the fields.
type Viewed struct {
	Name    string
	Dialect sqlgen.Dialect
	Natives map[schema.Type]string
}

// Archive returns the policy of Views. Events belong to the tenant of the person who made them, if they are live. They
// are live by conditions on texts, documents and dates that are held as integers. odd and plain have no owner.
func (d Viewed) Archive(t *testing.T) *policy.Policy {
	t.Helper()
	class := func(name, space, fields string) schema.Class {
		c := schema.Class{Source: "app", Name: name, Space: space, Table: name, Key: []string{"id"}, Converts: true}
		for text := range strings.FieldsSeq("id:integer! " + fields) {
			name, typ, _ := strings.Cut(text, ":")
			f := schema.Field{Name: strings.ReplaceAll(name, "_", " "), NotNull: strings.HasSuffix(typ, "!")}
			for of, native := range d.Natives {
				if of.String() == strings.TrimSuffix(typ, "!") {
					f.Type, f.Native = of, native
				}
			}
			c.Fields = append(c.Fields, f)
		}
		return c
	}
	events := class("events", "", "author:integer! at:integer ms:integer! true:boolean title:string doc:json! raw:bytes team:json born_as_stored:string")
	events.Relations = []schema.Relation{{Fields: []string{"author"}, Target: "people", TargetFields: []string{"id"}}}
	people := class("people", "crm", "org:string name:string! born:integer! notes:json")
	parts := class("parts", "", "share:integer")
	parts.Relations = []schema.Relation{{Fields: []string{"share"}, Target: "shares", TargetFields: []string{"id"}}}
	odd := class("odd", "", "at:integer false:boolean at_as_stored:string "+fits+":integer "+longer+":integer")
	seconds := map[string]schema.Form{"at": schema.EpochSeconds, fits: schema.EpochSeconds, longer: schema.EpochSeconds}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
		"events": {Tenant: &policy.TenantRule{Through: "author"}, Types: map[string]schema.Form{"at": schema.EpochSeconds, "ms": schema.EpochMillis},
			Pointers:  map[string]policy.Pointer{"team": {Class: "people"}},
			Canonical: Where(t, `{"title": {"$regex": "^a", "$ne": "ab"}, "doc.gone": null, "at": {"$gte": "2026-01-01T00:00:00Z"}, "true": {"$ne": true}}`)},
		"people": {Tenant: &policy.TenantRule{Field: "org"}, Types: map[string]schema.Form{"born": schema.EpochSeconds}},
		"odd":    {Types: seconds},
		"shares": {Tenant: &policy.TenantRule{Field: "orgs", Contains: true}}, "parts": {Tenant: &policy.TenantRule{Through: "share"}},
	}}, []schema.Class{events, people, odd, class("shares", "", "title:string orgs:json"), parts, class("plain", "", "name:string at:date doc:json!")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A question is one of Views.
type question struct {
	Class                string
	Keys, Include, Order []string
	Where, Pipeline      json.RawMessage
	Part                 string // a piece of this field
	Raw                  bool   // without the condition that makes a record live
	Count                bool
	Prefix               bool   // the longest beginning of the pipeline
	Records              string // the records that have one of two values of this field, or "all"
}

func (q question) paths(names []string) (out []query.Path) {
	for _, name := range names {
		out = append(out, query.ParsePath(name))
	}
	return out
}

// query returns the question as a query.
func (q question) query(t *testing.T) query.Query {
	switch {
	case q.Pipeline != nil:
		return &query.Pipeline{Class: q.Class, Stages: Pipeline(t, string(q.Pipeline)), Limit: 100, Raw: q.Raw}
	case q.Count:
		return &query.Count{Class: q.Class, Where: Where(t, string(q.Where)), Raw: q.Raw}
	}
	find := &query.Find{Class: q.Class, Where: Where(t, string(q.Where)), Keys: q.paths(q.Keys), Include: q.paths(q.Include), Limit: 10, Raw: q.Raw}
	for _, name := range q.Order {
		down, desc := strings.CutPrefix(name, "-")
		find.Order = append(find.Order, query.Sort{Path: query.ParsePath(down), Desc: desc})
	}
	if q.Part != "" {
		find.Part = &query.Part{Field: q.Part, Offset: 5, Length: 20}
	}
	return find
}

// Permit returns the permit for the question on a line.
func (d Viewed) Permit(t *testing.T, line string) policy.Permit {
	t.Helper()
	_, permit := d.ask(t, line)
	return permit
}

// ask returns the question on a line, and its permit.
func (d Viewed) ask(t *testing.T, line string) (question, policy.Permit) {
	t.Helper()
	var q question
	if err := json.Unmarshal([]byte(line), &q); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	permit, err := d.Archive(t).Read(Reader(), q.query(t))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return q, permit
}

// statement returns the statement of a question: its text, its arguments, and what its rows hold.
func (d Viewed) statement(t *testing.T, line string) string {
	t.Helper()
	q, permit := d.ask(t, line)
	planned, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	done := ""
	var st sqlgen.Statement
	switch {
	case q.Prefix:
		var n int
		st, n, err = sqlgen.Prefix(&planned, d.Dialect, 30, 2000)
		done = fmt.Sprintf("; %d of %d stages", n, len(planned.Program.Stages))
	case q.Records == "all":
		st, err = sqlgen.Records(planned.View, d.Dialect, sqlgen.Part{Limit: 30, Most: 2000})
	case q.Records != "":
		st, err = sqlgen.Records(planned.View, d.Dialect, sqlgen.Part{Key: q.Records, In: []value.Value{value.OfString("a"), value.OfString("b")}, Limit: 30})
	default:
		st, err = sqlgen.SQL(permit, d.Dialect)
	}
	if err != nil {
		return fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
	}
	columns := make([]string, len(st.Columns))
	for i, c := range st.Columns {
		columns[i] = strings.Join(append([]string{c.Field.Name + " " + c.Field.Type.String()}, c.Part...), ".")
	}
	return fmt.Sprintf("%s\n            %s\n            %s; order %v; bounded %v by %d%s", st.Text, Arguments(st.Args), strings.Join(columns, ", "), st.Order, st.Bounded, st.Most, done)
}

// Views shows what questions become whose views have conditions on long values, and fields that the rules declare.
func Views(t *testing.T, file string, databases []Viewed) {
	t.Helper()
	var names []string
	for _, d := range databases {
		names = append(names, d.Name)
	}
	CompareGolden(t, file, names, func(database int, question string) string { return databases[database].statement(t, question) })
}

package database

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Key is a type for a key field in the SQL of the database, followed by values of the type as SQL.
type Key []string

// TestKeyTypes creates tables whose keys have each of these types, as the only field and as the second of two. The id
// of each record in an answer must find exactly that record in a read, a condition, and a write.
func (d *Database) TestKeyTypes(t *testing.T, before []string, keys []Key) {
	script := append([]string(nil), before...)
	for i, k := range keys {
		script = append(script, fmt.Sprintf("CREATE TABLE k%d (id %s NOT NULL, v int, PRIMARY KEY (id))", i, k[0]),
			fmt.Sprintf("CREATE TABLE c%d (org int NOT NULL, id %s NOT NULL, v int, PRIMARY KEY (org, id))", i, k[0]))
		for n, v := range k[1:] {
			script = append(script, fmt.Sprintf("INSERT INTO k%d VALUES (%s, %d)", i, v, n), fmt.Sprintf("INSERT INTO c%d VALUES (7, %s, %d)", i, v, n))
		}
	}
	w, _ := d.writable(t, d.Fresh(t), script)
	classes, _, err := w.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rules := policy.Rules{Unlisted: true}
	rules.Gates.RawWrites = policy.On
	p, err := policy.New(rules, classes)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		for _, class := range []string{fmt.Sprint("k", i), fmt.Sprint("c", i)} {
			(&keyed{w, p, classes, class, k}).check(t)
		}
	}
}

// keyed is a class of TestKeyTypes.
type keyed struct {
	source interface {
		source.Source
		source.Writer
	}
	policy  *policy.Policy
	classes []schema.Class
	class   string
	key     Key
}

var keeper = identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read, identity.Write}}

func (k *keyed) check(t *testing.T) {
	t.Helper()
	fields := []query.Path{{"id"}, {"v"}}
	if k.class[0] == 'c' {
		fields = []query.Path{{"org"}, {"id"}, {"v"}}
	}
	all, err := k.read(t, &query.Find{Class: k.class, Keys: fields, Limit: 100})
	if err != nil || len(all) != len(k.key[1:]) {
		t.Errorf("%s of %s: %d records, %v; want %d", k.class, k.key[0], len(all), err, len(k.key[1:]))
		return
	}
	c := &k.classes[slices.IndexFunc(k.classes, func(c schema.Class) bool { return c.Name == k.class })]
	if c.Key == nil {
		if _, err := k.read(t, &query.Find{Class: k.class, IDs: []string{"x"}, Keys: fields, Limit: 1}); problem.CodeOf(err) != problem.Unsupported {
			t.Errorf("%s of %s has no key, yet is read by one: %v", k.class, k.key[0], err)
		}
		return
	}
	for _, row := range all {
		last := len(row) - 1
		id, v := writes.KeyText(row[:last]), row[last].String()
		found := func(how string, q *query.Find) {
			q.Class, q.Keys, q.Limit = k.class, fields, 3
			got, err := k.read(t, q)
			if how == "where" && len(got) == 0 && err == nil && c.Field("id").Mixed {
				return // a condition uses values of the field's type, so texts don't apply
			}
			if err != nil || len(got) != 1 || got[0][len(got[0])-1].String() != v {
				t.Errorf("%s %s of %s by %s: %v, %v; want record %s", k.class, id, k.key[0], how, got, err, v)
			}
		}
		found("id", &query.Find{IDs: []string{id}})
		found("where", &query.Find{Where: query.Compare{Path: query.Path{"id"}, Op: query.Eq, Value: value.OfString(row[last-1].String()), At: "/where/id"}})
		k.previewUpdate(t, id, v)
	}
	for _, wrong := range []string{"x", "00", "1e999999999", "[7]", `[7,"x"]`, `["7",null]`, "9999999999999999999999", "-"} {
		if got, err := k.read(t, &query.Find{Class: k.class, Keys: fields, IDs: []string{wrong}, Limit: 3}); err != nil || len(got) > 1 {
			t.Errorf("%s of %s: the id %q: %v, %v", k.class, k.key[0], wrong, got, err)
		}
	}
}

// previewUpdate previews an update of the record with an id.
func (k *keyed) previewUpdate(t *testing.T, id, v string) {
	t.Helper()
	draft, err := writes.Propose(context.Background(), k.policy, keeper, write.Request{Writes: []write.Write{
		&write.Update{Class: k.class, ID: id, Data: value.OfObject([]value.Member{{Name: "v", Value: value.OfInt(99)}})}}})
	if err != nil {
		t.Errorf("%s of %s: writing %q: %v", k.class, k.key[0], id, err)
		return
	}
	seen, err := k.source.Preview(t.Context(), draft)
	if err != nil || seen.Refusal != "" || len(seen.Effects) != 1 {
		t.Errorf("%s of %s: writing %q: %+v, %v", k.class, k.key[0], id, seen, err)
		return
	}
	before, _ := seen.Effects[0].Before.Get("v")
	after, _ := seen.Effects[0].After.Get("v")
	if before.String() != v || after.String() != "99" {
		t.Errorf("%s of %s: writing %q changes record %s to %s; want %s to 99", k.class, k.key[0], id, before, after, v)
	}
}

func (k *keyed) read(t *testing.T, q *query.Find) ([]value.Row, error) {
	t.Helper()
	permit, err := k.policy.Read(keeper, q)
	if err != nil {
		return nil, err
	}
	rows, err := k.source.Read(t.Context(), permit)
	if err != nil {
		return nil, err
	}
	var out []value.Row
	for row, err := range rows {
		if err != nil {
			if text := problem.Of(err); strings.Contains(text.Detail, "could not answer") {
				return nil, fmt.Errorf("%w: %v", err, text.Err)
			}
			return nil, err
		}
		out = append(out, append(value.Row(nil), row[:len(q.Keys)]...))
	}
	return out, nil
}

// Package writing is the test suite that every source.Writer for SQL must pass, on the real server. It tests the
// preview of a write, the written records, and writes that must never happen.
//
// It complements package sourcetest. Only tests import it. Its tables contain rows with a request and the exact
// answer, including the differences between databases. Outsiders are writers on another connection.
package writing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Writable is a source that can be read and written.
type Writable interface {
	source.Source
	source.Writer
}

// Marks accesses the records of the class marks as another program. Each record has an id and a number.
type Marks interface {
	Set(id, n int64) error
	Add(id int64) (wrote int64, err error)            // increments the number
	Get(id int64) (n int64, records int64, err error) // returns the number of the last record with the id, and the number of such records
}

// A Target is a kind of database with its adapter.
type Target struct {
	Kind sourcetest.Kind
	// Every reduces the suite for a matrix of settings that runs it several times. Only each Every-th order of
	// fences, moment of cancellation and round of races runs. The parts of the suite run in parallel. With 0,
	// everything runs in sequence.
	Every int
	// Open creates an empty database, runs the statements in it, and opens it as the source app. outside is another
	// connection to the database.
	Open func(t testing.TB, statements []string) (w Writable, outside *sql.DB)
}

// A Bed is a source with the class marks, which contains a record with the id 0 and the number 0.
type Bed struct {
	Writable
	Marks
	Groups bool   // it writes several records atomically, each with its marker
	Shows  string // the kind of its previews, or "" for change.Executed
}

// Protocol runs the part of the suite that applies to any source, regardless of how it stores records. It tests
// fences, races, and cancelled applies.
func Protocol(t *testing.T, open func(testing.TB) Bed) {
	for _, part := range []struct {
		name string
		run  func(*testing.T, *database)
	}{{"Fences", fences}, {"Races", races}, {"Interrupted", testInterruption}} {
		t.Run(part.name, func(t *testing.T) { part.run(t, newDatabase(t, open(t))) })
	}
}

// A Proposer runs writes through preview, approval and apply.
type Proposer struct{ d *database }

// NewProposer returns a Proposer for a bed under the rules of the suite.
func NewProposer(t testing.TB, b Bed) Proposer { return Proposer{newDatabase(t, b)} }

// PreviewAndApply previews writes, applies them twice, and returns the preview and the outcome.
func (p Proposer) PreviewAndApply(t *testing.T, texts ...string) string {
	t.Helper()
	return p.d.previewAndApply(t, texts...)
}

// As sets the action of the following writes. "" means no action.
func (p Proposer) As(action string) { p.d.action = action }

// Later previews a write, calls others, and applies the write. It returns "applied" with the resulting record,
// "moved" with the current record, or the error.
func (p Proposer) Later(t *testing.T, text string, others func()) string {
	t.Helper()
	c := p.d.newApprovedChange(t, text)
	others()
	r, err := p.d.apply(t, c, 1)
	if moved, is := errors.AsType[*change.Moved](err); is {
		return fmt.Sprintf("moved %s", moved.Now[0].Before.AppendJSON(nil))
	} else if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("applied %s", r.After[0].AppendJSON(nil))
}

// newDatabase returns a database for a bed.
func newDatabase(t testing.TB, b Bed) *database {
	t.Helper()
	d := &database{Bed: b}
	d.look(t)
	return d
}

// Run runs the suite.
func Run(t *testing.T, target Target) {
	for _, part := range []struct {
		name string
		run  func(*testing.T, *database)
	}{
		{"Types", types}, {"Declared", testDeclaredTypes}, {"Values", misfits}, {"Sizes", sizes}, {"Records", records}, {"Revived", testRevivedRecords}, {"Groups", groups}, {"Stale", stale}, {"Versioned", testVersions}, {"Fences", fences}, {"Races", races},
		{"Cancelled", testCancellation}, {"Catalogue", catalogue}, {"Classes", classes}, {"Owned", testOwnerStatements}, {"Shared", testSharedTransactions},
	} {
		t.Run(part.name, func(t *testing.T) {
			if target.Every > 1 {
				t.Parallel()
			}
			part.run(t, open(t, target))
		})
	}
}

// A database is a new database with the tables of the suite.
type database struct {
	Target
	Bed
	outside *sql.DB
	policy  *policy.Policy
	classes []schema.Class
	changes int
	action  string           // the action of the changes
	origins []write.Origin   // the origins of the writes, used instead of action
	scopes  []identity.Scope // the scopes of the writing principal. Nil means all
}

// open creates the tables of the suite and the rules. Projects belong to a tenant, and all other records to a
// project.
func open(t testing.TB, target Target) *database {
	t.Helper()
	d := &database{Target: target}
	d.Writable, d.outside = target.Open(t, Script(target.Kind))
	d.Marks, d.Groups = sqlMarks{d.outside}, true
	d.look(t)
	return d
}

// every returns Target.Every, or 1 if it is 0.
func (t Target) every() int { return max(t.Every, 1) }

// look reads the catalogue and compiles the rules for it.
func (d *database) look(t testing.TB) {
	t.Helper()
	var err error
	if d.classes, _, err = d.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.policy, err = policy.New(d.rules(), d.classes); err != nil {
		t.Fatal(err)
	}
}

// rules returns the rules of the suite.
func (d *database) rules() policy.Rules {
	through := policy.ClassRule{Tenant: &policy.TenantRule{Through: "project"}}
	return policy.Rules{Version: "1", Unlisted: true, Gates: policy.Gates{Writes: policy.On, RawWrites: policy.On, SchemaWrites: policy.On},
		Classes: existingRules(d.classes, map[string]policy.ClassRule{"projects": {Tenant: &policy.TenantRule{Field: "org"}}, "issues": through, "members": through,
			"things": {Denied: []string{"hidden"}, Types: d.types()}})}
}

// types returns the declared types of the class things. It returns nil for a source that has types of its own.
func (d *database) types() map[string]schema.Form {
	if !d.converts() {
		return nil
	}
	return map[string]schema.Form{"made_ms": schema.EpochMillis, "made_s": schema.EpochSeconds, "made_text": schema.DateText, "doc_text": schema.JSONText,
		"price_text": schema.DecimalForm, "n_text": schema.IntegerText, "x_text": schema.DoubleText, "done": schema.Truth, "due": schema.Midnight}
}

// converts reports whether the source supports types that rules declare.
func (d *database) converts() bool {
	return slices.ContainsFunc(d.classes, func(c schema.Class) bool { return c.Converts })
}

// existingRules returns the rules of the existing classes.
func existingRules(classes []schema.Class, rules map[string]policy.ClassRule) map[string]policy.ClassRule {
	maps.DeleteFunc(rules, func(name string, _ policy.ClassRule) bool {
		return !slices.ContainsFunc(classes, func(c schema.Class) bool { return c.Name == name })
	})
	return rules
}

// asker is the principal of the suite's writes.
var asker = identity.Principal{ID: "agent", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema}}

// asker returns the principal of the writes of d.
func (d *database) asker() identity.Principal {
	p := asker
	if d.scopes != nil {
		p.Scopes = d.scopes
	}
	return p
}

// parseWrites parses writes in the form that write.Print prints.
func parseWrites(t testing.TB, texts ...string) []write.Write {
	t.Helper()
	var out []write.Write
	for _, text := range texts {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		w, err := write.Parse(v, "")
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		out = append(out, w)
	}
	return out
}

// previewWrites proposes and previews writes.
func (d *database) previewWrites(t testing.TB, texts ...string) (change.Preview, error) {
	t.Helper()
	draft, err := writes.Propose(context.Background(), d.policy, d.asker(), write.Request{Writes: parseWrites(t, texts...), Origin: write.Origin{Action: d.action}, Origins: d.origins})
	if err != nil {
		return change.Preview{}, err
	}
	return d.Preview(t.Context(), draft)
}

// changeFrom returns a new change of writes with their preview.
func (d *database) changeFrom(t testing.TB, seen change.Preview, texts ...string) *change.Change {
	t.Helper()
	d.changes++
	c := &change.Change{ID: fmt.Sprintf("change%d", d.changes), State: change.Granted, Source: "app", Action: d.action, Origins: d.origins, Effects: slices.Clone(seen.Effects)}
	for _, w := range parseWrites(t, texts...) {
		c.Writes = append(c.Writes, write.Print(w))
	}
	for i := range c.Effects { // converts the records to the form in a store
		if err := c.Effects[i].Before.UnmarshalJSON(seen.Effects[i].Before.AppendJSON(nil)); err != nil {
			t.Fatal(err)
		}
	}
	c.Digest = c.Sum()
	return c
}

// newApprovedChange previews writes and returns an approved change for them.
func (d *database) newApprovedChange(t testing.TB, texts ...string) *change.Change {
	t.Helper()
	seen, err := d.previewWrites(t, texts...)
	if err != nil {
		t.Fatalf("%v: %v", texts, err)
	}
	return d.changeFrom(t, seen, texts...)
}

// permit leases an approved change with a fence and returns the permit of the policy.
func (d *database) permit(t testing.TB, c *change.Change, fence int64) writes.Permit {
	t.Helper()
	copied := *c
	copied.Lease.Fence = fence - 1
	a, err := change.NewQueue(change.Options{Store: only{c: &copied}}).Claim(t.Context(), c.ID, "suite")
	if err != nil {
		t.Fatal(err)
	}
	p, err := writes.Allow(context.Background(), d.policy, d.asker(), a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// apply applies a change with a fence.
func (d *database) apply(t testing.TB, c *change.Change, fence int64) (change.Receipt, error) {
	t.Helper()
	return d.Apply(t.Context(), d.permit(t, c, fence))
}

// only is a store with one change, which is sufficient for a Queue to lease the change.
type only struct {
	change.Store
	c *change.Change
}

// Get implements change.Store.
func (s only) Get(context.Context, string) (*change.Change, error) { return s.c, nil }

// Swap implements change.Store.
func (s only) Swap(context.Context, *change.Change, change.Guard) error { return nil }

// run runs a statement on the other connection.
func (d *database) run(t testing.TB, statement string) {
	t.Helper()
	if _, err := d.outside.Exec(statement); err != nil {
		t.Fatalf("%v in %s", err, statement)
	}
}

// count returns the single number that a query returns on the other connection.
func (d *database) count(t testing.TB, query string) (n int64) {
	t.Helper()
	if err := d.outside.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	return n
}

// number returns the number of a record of marks, and how many records have its id.
func (d *database) number(t testing.TB, id int64) (n, records int64) {
	t.Helper()
	n, records, err := d.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return n, records
}

// sqlMarks implements Marks over SQL.
type sqlMarks struct{ *sql.DB }

// Set implements Marks.
func (m sqlMarks) Set(id, n int64) error {
	_, err := m.Exec(fmt.Sprintf(`UPDATE marks SET n = %d WHERE id = %d`, n, id))
	return err
}

// Add implements Marks.
func (m sqlMarks) Add(id int64) (int64, error) {
	r, err := m.Exec(fmt.Sprintf(`UPDATE marks SET n = n + 1 WHERE id = %d`, id))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Get implements Marks.
func (m sqlMarks) Get(id int64) (n, records int64, err error) {
	return n, records, m.QueryRow(fmt.Sprintf(`SELECT coalesce(max(n), 0), count(*) FROM marks WHERE id = %d`, id)).Scan(&n, &records)
}

package writing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// testOwnerStatements tests actions that run an SQL statement of the application's owner. They must be previewed,
// rolled back and applied once, like every write. Only the reviewed text may run.
func testOwnerStatements(t *testing.T, d *database) {
	const raise = `UPDATE issues SET votes = votes + :by WHERE project = :project AND title <> ':by; not this'`
	asks := func(statement, id string, by int) string {
		sum := sha256.Sum256([]byte(statement))
		return fmt.Sprintf(`{"op":"action","class":"issues","name":"raise","id":%q,"input":{"statement":%q,"parameters":{"by":%d,"project":1}},"source":"app"}`,
			id, hex.EncodeToString(sum[:]), by)
	}
	if _, err := d.previewWrites(t, asks(raise, "1", 2)); problem.CodeOf(err) != problem.Unsupported {
		t.Errorf("a statement that wasn't declared: %v", err)
	}
	declare := d.Writable.(interface{ Declare(statements []string) }).Declare
	declare([]string{"SELECT 1", raise})
	const was, is = `{"id":1,"project":1,"title":"a","votes":1,"parent":null,"loud":null}`, `{"id":1,"project":1,"title":"a","votes":3,"parent":null,"loud":null}`
	seen, err := d.previewWrites(t, asks(raise, "1", 2))
	if err != nil || seen.Effects[0].Before.String() != was || seen.Effects[0].After.String() != is {
		t.Fatalf("%v %v", seen, err)
	}
	c := d.changeFrom(t, seen, asks(raise, "1", 2))
	for range 2 {
		if r, err := d.apply(t, c, 1); err != nil || r.Rows != 3 || r.Keys[0] != "1" || r.After[0].String() != is {
			t.Errorf("%v %v", r, err)
		}
	}
	if n := d.count(t, `SELECT sum(votes) FROM issues WHERE project = 1`); n != 1+2+5+3*2 {
		t.Errorf("%d votes", n)
	}
	c = d.newApprovedChange(t, asks(raise, "1", 1))
	d.run(t, `UPDATE issues SET title = 'other' WHERE id = 1`)
	if _, err := d.apply(t, c, 1); !isMoved(err) {
		t.Errorf("a record that has moved: %v", err)
	}
	if _, err := d.previewWrites(t, asks(raise, "3", 1)); problem.CodeOf(err) != problem.NotFound {
		t.Errorf("a record outside of the view: %v", err)
	}
	c = d.newApprovedChange(t, asks(raise, "", 1))
	declare(nil)
	if _, err := d.apply(t, c, 1); problem.CodeOf(err) != problem.Unsupported {
		t.Errorf("a statement that has changed: %v", err)
	}
	declare([]string{raise})
	if r, err := d.apply(t, c, 2); err != nil || r.Rows != 3 {
		t.Errorf("about no record: %v %v", r, err)
	}
	if seen, err := d.previewWrites(t, asks(raise, "", 1000)); err != nil || seen.Refusal == "" {
		t.Errorf("a constraint: %v %v", seen, err)
	}
	beside(t, d, asks(raise, "1", 1), asks(raise, "", 1000))
}

// beside tests an owner's statement in one group with a delete by an action and a raw write. All are written in one
// transaction or none, each with its own rights. refused is a statement that the database refuses.
func beside(t *testing.T, d *database, statement, refused string) {
	d.run(t, `INSERT INTO marks (id, n) VALUES (41, 1)`)
	const remove, set = `{"op":"delete","class":"marks","id":"41"}`, `{"op":"update","class":"marks","id":"0","data":{"n":5}}`
	d.scopes = []identity.Scope{identity.Read, identity.Write} // a delete by an action requires the action's scope, which the action itself checks
	if _, err := d.previewWrites(t, statement, remove, set); problem.CodeOf(err) != problem.PermissionDenied || problem.Of(err).Pointer != "/writes/1" {
		t.Errorf("a delete of no action: %v", err)
	}
	d.origins = []write.Origin{{Action: "raise"}, {Action: "sweep"}, {}}
	defer func() { d.origins, d.scopes = nil, nil }()
	if seen, err := d.previewWrites(t, refused, remove, set); err != nil || seen.Refusal == "" || len(seen.Effects) != 3 {
		t.Errorf("a constraint beside others: %v %v", seen, err)
	}
	votes := d.count(t, `SELECT sum(votes) FROM issues WHERE project = 1`)
	c := d.newApprovedChange(t, statement, remove, set)
	forged := *c
	forged.Origins = []write.Origin{{Action: "raise"}, {Action: "sweep"}, {Action: "sweep"}}
	if forged.Sum() == c.Sum() {
		t.Error("the digest doesn't cover which action made a write")
	}
	d.run(t, `UPDATE marks SET n = 2 WHERE id = 41`)
	if _, err := d.apply(t, c, 1); !isMoved(err) {
		t.Errorf("a record of one of several has moved: %v", err)
	}
	if n := d.count(t, `SELECT sum(votes) FROM issues WHERE project = 1`); n != votes {
		t.Errorf("a part was written: %d votes, want %d", n, votes)
	}
	c = d.newApprovedChange(t, statement, remove, set)
	for range 2 {
		if r, err := d.apply(t, c, 1); err != nil || len(r.Keys) != 3 {
			t.Fatalf("%v %v", r, err)
		}
	}
	if n := d.count(t, `SELECT sum(votes) FROM issues WHERE project = 1`); n != votes+3 {
		t.Errorf("%d votes, want %d: applied once", n, votes+3)
	}
	if n, left := d.count(t, `SELECT n FROM marks WHERE id = 0`), d.count(t, `SELECT count(*) FROM marks WHERE id = 41`); n != 5 || left != 0 {
		t.Errorf("n is %d, %d left", n, left)
	}
	d.run(t, `UPDATE marks SET n = 0 WHERE id = 0`)
}

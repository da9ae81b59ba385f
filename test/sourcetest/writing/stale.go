package writing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// stale checks that records must still match the reviewed records in the relevant fields.
func stale(t *testing.T, d *database) {
	const was = `{"id":1,"project":1,"title":"a","votes":1,"parent":null,"loud":null}`
	for _, r := range []struct{ write, outside, want string }{
		{`{"op":"update","class":"issues","id":"1","data":{"votes":7}}`, `UPDATE issues SET votes = 3 WHERE id = 1`, `{"id":1,"project":1,"title":"a","votes":3,"parent":null,"loud":null}`},
		{`{"op":"update","class":"issues","id":"1","data":{"votes":7}}`, `UPDATE issues SET votes = NULL WHERE id = 1`, `{"id":1,"project":1,"title":"a","votes":null,"parent":null,"loud":null}`},
		{`{"op":"update","class":"issues","id":"1","data":{"votes":7}}`, `UPDATE issues SET votes = 1 WHERE id = 1`, ``},
		{`{"op":"update","class":"issues","id":"1","data":{"votes":7}}`, `UPDATE issues SET parent = 2 WHERE id = 1`, ``},
		{`{"op":"update","class":"issues","id":"1","data":{"votes":7,"parent":"4"}}`, `UPDATE issues SET parent = 2 WHERE id = 1`, `{"id":1,"project":1,"title":"a","votes":1,"parent":2,"loud":null}`},
		{`{"op":"update","class":"issues","id":"1","data":{"title":"A"}}`, `UPDATE issues SET title = 'a!' WHERE id = 1`, `{"id":1,"project":1,"title":"a!","votes":1,"parent":null,"loud":"A!"}`},
		{`{"op":"update","class":"issues","id":"1","data":{"votes":7}}`, `UPDATE issues SET project = 3 WHERE id = 1`, `null`},
		{`{"op":"update","class":"issues","id":"1","data":{"votes":7}}`, `DELETE FROM issues WHERE id = 1`, `null`},
		{`{"op":"delete","class":"issues","id":"1"}`, `UPDATE issues SET parent = 2 WHERE id = 1`, `{"id":1,"project":1,"title":"a","votes":1,"parent":2,"loud":null}`},
		{`{"op":"delete","class":"issues","id":"1"}`, `UPDATE issues SET votes = 2 WHERE id = 2`, ``},
	} {
		d.run(t, `DELETE FROM issues WHERE id = 1`)
		d.run(t, `INSERT INTO issues (id, project, title, votes) VALUES (1, 1, 'a', 1)`)
		d.run(t, `DELETE FROM issues WHERE id = 2`)
		d.run(t, `INSERT INTO issues (id, project, title, votes) VALUES (2, 1, 'b', 2)`)
		c := d.newApprovedChange(t, r.write)
		if c.Effects[0].Before.String() != was {
			t.Fatalf("before: %v", c.Effects[0].Before)
		}
		d.run(t, r.outside)
		_, err := d.apply(t, c, 1)
		moved, stopped := errors.AsType[*change.Moved](err)
		switch {
		case !stopped && (err != nil || r.want != ""):
			t.Errorf("%s after %s: %v", r.write, r.outside, err)
		case stopped && (len(moved.Now) != 1 || string(moved.Now[0].Before.AppendJSON(nil)) != r.want):
			t.Errorf("%s after %s: now %v, want %s", r.write, r.outside, moved.Now, r.want)
		}
	}
	// One stale item stops the whole group. The error contains the current state of all items.
	d.run(t, `UPDATE issues SET votes = 1, parent = NULL WHERE id = 2`)
	c := d.newApprovedChange(t, `{"op":"update","class":"marks","id":"0","data":{"n":5}}`, `{"op":"update","class":"issues","id":"2","data":{"votes":2}}`)
	d.run(t, `UPDATE issues SET votes = 9 WHERE id = 2`)
	_, err := d.apply(t, c, 1)
	moved, ok := errors.AsType[*change.Moved](err)
	if !ok || fmt.Sprint(moved.Now[0].Before, moved.Now[1].Before) != `{"id":0,"n":0} {"id":2,"project":1,"title":"b","votes":9,"parent":null,"loud":null}` {
		t.Errorf("a group: %v %v", err, moved)
	}
	if n := d.count(t, `SELECT n FROM marks WHERE id = 0`); n != 0 {
		t.Errorf("a part of a stale group was written: %d", n)
	}
}

// testVersions tests rules that name a version field. A record is stale if it changed and changed back, or if another
// field changed.
func testVersions(t *testing.T, d *database) {
	rules := d.rules()
	issues := rules.Classes["issues"]
	issues.Version = "votes"
	rules.Classes["issues"] = issues
	var err error
	if d.policy, err = policy.New(rules, d.classes); err != nil {
		t.Fatal(err)
	}
	const title, both = `{"op":"update","class":"issues","id":"1","data":{"title":"A"}}`, `{"op":"update","class":"issues","id":"1","data":{"votes":7,"parent":"4"}}`
	for _, r := range []struct {
		writes  []string
		outside []string
		moved   bool
	}{
		{[]string{title}, nil, false},
		{[]string{title}, []string{`UPDATE issues SET title = 'b', votes = votes + 1 WHERE id = 1`, `UPDATE issues SET title = 'a', votes = votes + 1 WHERE id = 1`}, true},
		{[]string{title}, []string{`UPDATE issues SET votes = votes + 1 WHERE id = 1`}, true},
		{[]string{title}, []string{`UPDATE issues SET title = 'b' WHERE id = 1`, `UPDATE issues SET title = 'a' WHERE id = 1`}, false},
		{[]string{both}, nil, false},
		{[]string{both}, []string{`UPDATE issues SET votes = 3 WHERE id = 1`}, true},
	} {
		d.run(t, `DELETE FROM issues WHERE id = 1`)
		d.run(t, `INSERT INTO issues (id, project, title, votes) VALUES (1, 1, 'a', 1)`)
		c := d.newApprovedChange(t, r.writes...)
		for _, text := range r.outside {
			d.run(t, text)
		}
		_, err := d.apply(t, c, 1)
		if _, moved := errors.AsType[*change.Moved](err); moved != r.moved || err != nil && !moved {
			t.Errorf("%v after %v: %v", r.writes, r.outside, err)
		}
		now, err := d.previewWrites(t, r.writes...)
		if err != nil {
			t.Fatal(err)
		}
		if r.moved && c.Difference(now.Effects) == "" { // the applied change itself has changed the record
			t.Errorf("%v after %v: reviewers are told nothing", r.writes, r.outside)
		}
	}
	for _, hidden := range []policy.ClassRule{{Version: "votes", Denied: []string{"votes"}}, {Version: "votes", Mask: map[string]policy.Mask{"votes": policy.Null}}, {Version: "nothing"}} {
		rules.Classes["issues"] = hidden
		if _, err := policy.New(rules, d.classes); err == nil {
			t.Errorf("a version that can't be compared: %+v", hidden)
		}
	}
}

// fences tries every sequence of three steps. The steps are: apply with a fence (a1, a2), apply a refused change (r1,
// r2), and bar (b1, b2). The database must agree with the model.
func fences(t *testing.T, d *database) {
	steps := []string{"a1", "a2", "r1", "r2", "b1", "b2"}
	key := 0
	for _, x := range steps {
		for _, y := range steps {
			for _, z := range steps {
				if key++; key%d.every() != 0 {
					continue
				}
				good := d.newApprovedChange(t, fmt.Sprintf(`{"op":"create","class":"marks","data":{"id":"%d","n":1}}`, key))
				bad := *good
				bad.Effects = []change.Effect{{Op: good.Effects[0].Op}, {Op: "update"}}
				bad.Writes = append(bad.Writes[:1:1], d.newApprovedChange(t, `{"op":"update","class":"marks","id":"0","data":{"n":1}}`).Writes[0])
				if !d.Groups {
					bad.Effects, bad.Writes = bad.Effects[1:], bad.Writes[1:]
				}
				bad.Digest = bad.Sum()
				floor, applied := int64(0), false
				for i, step := range []string{x, y, z} {
					fence := int64(step[1] - '0')
					want := ""
					switch {
					case applied && step[0] == 'r': // the change has another digest
						want = "another"
					case applied:
						want = "again"
					case step[0] == 'b':
						want, floor = "barred", max(floor, fence+1)
					case fence < floor:
						want = "fenced"
					case step[0] == 'r':
						want, floor = "moved", fence
					default:
						want, applied = "applied", true
					}
					if got := d.step(t, step[0], good, &bad, fence); got != want {
						t.Errorf("%s %s %s, step %d: %s, want %s", x, y, z, i+1, got, want)
					}
				}
				if _, n := d.number(t, int64(key)); n != map[bool]int64{true: 1}[applied] {
					t.Errorf("%s %s %s: %d records", x, y, z, n)
				}
			}
		}
	}
}

// step performs one step of fences and returns the name of its result.
func (d *database) step(t *testing.T, kind byte, good, bad *change.Change, fence int64) string {
	t.Helper()
	var r change.Receipt
	var err error
	applied := true
	switch kind {
	case 'a':
		r, err = d.apply(t, good, fence)
	case 'r':
		r, err = d.apply(t, bad, fence)
		if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.Internal {
			return "another"
		}
	default:
		r, applied, err = d.Bar(t.Context(), good.ID, fence)
	}
	_, moved := errors.AsType[*change.Moved](err)
	switch {
	case moved:
		return "moved"
	case errors.Is(err, change.ErrFenced):
		return "fenced"
	case err != nil:
		return err.Error()
	case !applied:
		return "barred"
	case r.Again:
		return "again"
	}
	return "applied"
}

// races applies one change several times concurrently, and many changes of one record. Each must be applied once, and
// none may overwrite a value that its reviewer hadn't seen.
func races(t *testing.T, d *database) {
	c := d.newApprovedChange(t, `{"op":"update","class":"marks","id":"0","data":{"n":1}}`)
	var group sync.WaitGroup
	results := make([]string, 8)
	for i := range results {
		p := d.permit(t, c, int64(i/4+1))
		group.Go(func() {
			r, err := d.Apply(context.Background(), p)
			results[i] = fmt.Sprint(r.Keys, err)
		})
	}
	group.Wait()
	for i, r := range results {
		if r != "[0] <nil>" && (i >= 4 || r != "[] "+change.ErrFenced.Error()) {
			t.Errorf("applier %d: %s", i, r)
		}
	}
	if n, _ := d.number(t, 0); n != 1 {
		t.Errorf("n is %d", n)
	}
	// Of ten changes from 1 to different values, exactly one succeeds.
	won := make([]bool, 10)
	permits := make([]writes.Permit, len(won))
	for i := range permits {
		permits[i] = d.permit(t, d.newApprovedChange(t, fmt.Sprintf(`{"op":"update","class":"marks","id":"0","data":{"n":%d}}`, 10+i)), 1)
	}
	for i, p := range permits {
		group.Go(func() {
			_, err := d.Apply(context.Background(), p)
			if _, moved := errors.AsType[*change.Moved](err); err != nil && !moved {
				t.Errorf("change %d: %v", i, err)
			}
			won[i] = err == nil
		})
	}
	group.Wait()
	n, _ := d.number(t, 0)
	winners := 0
	for i, w := range won {
		if w {
			winners++
			if n != int64(10+i) {
				t.Errorf("change %d won, and n is %d", i, n)
			}
		}
	}
	if winners != 1 {
		t.Errorf("%d changes were applied over one value", winners)
	}
}

// Outsiders writes on another connection while changes are applied. Each change increments the value that its
// reviewer saw. The final value equals the number of writes if none was overwritten.
func Outsiders(t *testing.T, target Target, changes int) {
	open(t, target).outsiders(t, changes, 3*time.Millisecond)
}

// BedOutsiders is like Outsiders for a bed. The other connection waits at most pause between its writes.
func BedOutsiders(t *testing.T, b Bed, changes int, pause time.Duration) {
	newDatabase(t, b).outsiders(t, changes, pause)
}

func (d *database) outsiders(t *testing.T, changes int, pause time.Duration) {
	stop, done := make(chan struct{}), make(chan int64)
	go func() {
		wrote := int64(0)
		for {
			select {
			case <-stop:
				done <- wrote
				return
			case <-time.After(rand.N(pause)):
			}
			if n, err := d.Add(0); err == nil {
				wrote += n
			}
		}
	}()
	applied, stale := int64(0), 0
	for range changes {
		is, _ := d.number(t, 0)
		draft := fmt.Sprintf(`{"op":"update","class":"marks","id":"0","data":{"n":%d}}`, is+1)
		c := d.newApprovedChange(t, draft)
		before, _ := c.Effects[0].Before.Get("n")
		after, _ := c.Effects[0].After.Get("n")
		time.Sleep(rand.N(3 * time.Millisecond)) // simulates the time of a review
		_, err := d.apply(t, c, 1)
		switch {
		case err == nil:
			applied += after.Int() - before.Int() // another connection may have written between the query and the preview
		case isMoved(err):
			stale++
		default:
			t.Error(err)
		}
	}
	close(stop)
	wrote := <-done
	n, _ := d.number(t, 0)
	if n != wrote+applied {
		t.Errorf("%d by outsiders and %d by changes make %d", wrote, applied, n)
	}
	t.Logf("%d changes against %d writes of others: %d were stopped, none wrote over an unseen value", changes, wrote, stale)
}

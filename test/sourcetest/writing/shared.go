package writing

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// sharing creates the tables in which changes wait for one another. They have a pointer that is checked at the commit
// of a transaction, if the database supports that. They also have numbers that a trigger refuses.
var sharing = [3][]string{
	{
		`CREATE TABLE slots (id INT NOT NULL PRIMARY KEY, n INT NOT NULL CHECK (n + 0 < 1000), owner INT REFERENCES owners (id) DEFERRABLE INITIALLY DEFERRED)`,
		`CREATE TRIGGER slots_abort BEFORE UPDATE ON slots WHEN new.n = 13 BEGIN SELECT RAISE(ABORT, 'secret words'); END`,
		`CREATE TRIGGER slots_fail AFTER UPDATE ON slots WHEN new.n = 14 BEGIN SELECT RAISE(FAIL, 'secret words'); END`,
		`CREATE TRIGGER slots_back AFTER UPDATE ON slots WHEN new.n = 15 BEGIN SELECT RAISE(ROLLBACK, 'secret words'); END`,
	},
	{
		`CREATE TABLE slots (id int NOT NULL PRIMARY KEY, n int NOT NULL CHECK (n + 0 < 1000), owner int REFERENCES owners (id) DEFERRABLE INITIALLY DEFERRED)`,
		`CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret words'; END $$`,
		`CREATE TRIGGER slots_never BEFORE UPDATE ON slots FOR EACH ROW WHEN (new.n BETWEEN 13 AND 15) EXECUTE FUNCTION never()`,
	},
	{
		`CREATE TABLE slots (id int NOT NULL PRIMARY KEY, n int NOT NULL CHECK (n + 0 < 1000), owner int, FOREIGN KEY (owner) REFERENCES owners (id))`,
		`CREATE TRIGGER slots_never BEFORE UPDATE ON slots FOR EACH ROW BEGIN
			IF NEW.n BETWEEN 13 AND 15 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret words'; END IF; END`,
	},
}

const slots = 12

// addSharingTables creates the tables of sharing.
func (d *database) addSharingTables(t *testing.T) {
	t.Helper()
	d.run(t, `CREATE TABLE owners (id int NOT NULL PRIMARY KEY)`)
	d.run(t, `INSERT INTO owners VALUES (1)`)
	for _, statement := range sharing[d.Kind] {
		d.run(t, statement)
	}
	for id := range slots {
		d.run(t, fmt.Sprintf(`INSERT INTO slots VALUES (%d, 0, 1)`, id))
	}
	d.look(t)
}

// slot returns a write of some fields of a slot.
func slot(id int, data string) string {
	return fmt.Sprintf(`{"op":"update","class":"slots","id":"%d","data":{%s}}`, id, data)
}

// testSharedTransactions tests changes and previews that wait for one another and may share a transaction. Each must
// end as in its own transaction, whatever happens to the others. The records must be the same as well.
func testSharedTransactions(t *testing.T, d *database) {
	for name, data := range map[string][]string{
		"all are written": {`"n":1`, `"n":2`, `"n":3`, `"n":4`, `"n":5`, `"n":6`},
		"a constraint":    {`"n":1`, `"n":5000`, `"n":3`, `"n":5001`, `"n":5`, `"n":6`},
		"a deferred one":  {`"n":1`, `"owner":7`, `"n":3`, `"owner":8`, `"owner":1`, `"n":6`},
		"a trigger":       {`"n":1`, `"n":13`, `"n":3`, `"n":14`, `"n":5`, `"n":6`},
		"a rollback":      {`"n":1`, `"n":2`, `"n":15`, `"n":4`, `"n":15`, `"n":6`},
		"moved":           {`"n":1`, `"n":900`, `"n":3`, `"n":901`, `"n":5`, `"n":6`},
		"barred":          {`"n":1`, `"n":910`, `"n":3`, `"n":911`, `"n":5`, `"n":6`},
	} {
		t.Run(name, func(t *testing.T) {
			alone, together := open(t, d.Target), open(t, d.Target)
			alone.addSharingTables(t)
			together.addSharingTables(t)
			want, got := alone.ends(t, data, false), together.ends(t, data, true)
			for i := range want {
				if want[i] != got[i] {
					t.Errorf("%s ended so: %s\nalone: %s", data[i/2], got[i], want[i])
				}
			}
			if want, got := alone.rest(t), together.rest(t); want != got {
				t.Errorf("the records are %s\nafter one at a time %s", got, want)
			}
		})
	}
	t.Run("Commits", func(t *testing.T) { commits(t, d) })
	t.Run("Twice", func(t *testing.T) { twice(t, d) })
}

// ends previews and applies a change of each slot, in sequence or concurrently. It returns the previews and the
// outcomes.
func (d *database) ends(t *testing.T, data []string, together bool) []string {
	t.Helper()
	out := make([]string, 2*len(data))
	changes := make([]*change.Change, len(data))
	for i := range data {
		seen, err := d.previewWrites(t, slot(i, data[i]))
		if err != nil { // the trigger rolls back the preview
			seen, err = d.previewWrites(t, slot(i, `"n":2`))
		}
		if err != nil {
			t.Fatal(err)
		}
		changes[i] = d.changeFrom(t, seen, slot(i, data[i]))
		if strings.HasPrefix(data[i], `"n":90`) {
			d.run(t, fmt.Sprintf(`UPDATE slots SET n = 77 WHERE id = %d`, i))
		}
		if strings.HasPrefix(data[i], `"n":91`) {
			if _, _, err := d.Bar(t.Context(), changes[i].ID, 5); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.each(t, len(data), together, func(i int) {
		seen, err := d.previewWrites(t, slot(i, data[i]))
		out[2*i] = fmt.Sprint(err, " ", seen.Refusal)
		for _, e := range seen.Effects {
			out[2*i] += fmt.Sprintf(" %s → %s", e.Before.AppendJSON(nil), e.After.AppendJSON(nil))
		}
	})
	d.each(t, len(data), together, func(i int) {
		r, err := d.apply(t, changes[i], 1)
		out[2*i+1] = fmt.Sprint(err, r.Again, r.Keys)
		for _, after := range r.After {
			out[2*i+1] += " " + string(after.AppendJSON(nil))
		}
	})
	return out
}

// each calls do n times, in sequence or concurrently. If concurrently, another connection has a lock at the start.
func (d *database) each(t *testing.T, n int, together bool, do func(int)) {
	t.Helper()
	if !together {
		for i := range n {
			do(i)
		}
		return
	}
	var all sync.WaitGroup
	d.withLockedRecord(t, func() {
		for i := range n {
			all.Go(func() { do(i) })
		}
		time.Sleep(30 * time.Millisecond) // the result doesn't depend on how many are waiting by then
	})
	all.Wait()
}

// rest returns the slots and the changes that have markers.
func (d *database) rest(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, ask := range []string{`SELECT id, n, coalesce(owner, 0) FROM slots ORDER BY id`, `SELECT change_id, fence, CASE WHEN receipt IS NULL THEN 0 ELSE 1 END FROM bailiwick_applied ORDER BY change_id`} {
		rows, err := d.outside.Query(ask)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			var n, other int
			if err := rows.Scan(&id, &n, &other); err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(&all, id, ":", n, ",", other, " ")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// commits checks that waiting changes share one commit in a database that runs one transaction at a time. In other
// databases this can't be observed.
func commits(t *testing.T, d *database) {
	if d.Kind != sourcetest.SQLite {
		return
	}
	d = open(t, d.Target)
	d.addSharingTables(t)
	var name, path string
	var n int
	if err := d.outside.QueryRow(`PRAGMA database_list`).Scan(&n, &name, &path); err != nil {
		t.Fatal(err)
	}
	made := func() uint32 {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return binary.BigEndian.Uint32(file[24:]) // the field "file change counter" of the file format
	}
	// The number of waiting changes when the lock is released depends on the machine.
	for round := range 50 {
		changes := make([]*change.Change, slots)
		for i := range changes {
			changes[i] = d.newApprovedChange(t, slot(i, fmt.Sprintf(`"n":%d`, 100+round)))
		}
		before := made()
		d.each(t, slots, true, func(i int) {
			if _, err := d.apply(t, changes[i], 1); err != nil {
				t.Error(err)
			}
		})
		for i := range changes {
			if n, _, err := d.slotNumber(i); n != 100+round || err != nil {
				t.Errorf("slot %d is %d, %v", i, n, err)
			}
		}
		if n := made() - before; n <= slots/2 {
			t.Logf("%d changes had %d commits in round %d", slots, n, round+1)
			return
		}
	}
	t.Error("changes that wait have a commit each")
}

func (d *database) slotNumber(id int) (n, owner int, err error) {
	err = d.outside.QueryRow(fmt.Sprintf(`SELECT n, coalesce(owner, 0) FROM slots WHERE id = %d`, id)).Scan(&n, &owner)
	return n, owner, err
}

// twice runs several executors of one change in a shared transaction, and callers that leave while their transaction
// runs. The change must be applied once. Bar must return the outcome of a change whose caller has left.
func twice(t *testing.T, d *database) {
	d = open(t, d.Target)
	d.addSharingTables(t)
	for round := 0; round < 20; round += d.every() {
		changes := make([]*change.Change, slots/2)
		for i := range changes {
			changes[i] = d.newApprovedChange(t, slot(i, fmt.Sprintf(`"n":%d`, 100+round)))
		}
		errs, again := make([]error, 2*len(changes)), make([]bool, 2*len(changes))
		d.each(t, 2*len(changes), true, func(i int) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%4 == 3 {
				ctx, cancel = context.WithTimeout(ctx, 30*time.Millisecond+time.Duration(round)*time.Millisecond/2)
				defer cancel()
			}
			r, err := d.Apply(ctx, d.permit(t, changes[i/2], 1))
			errs[i], again[i] = err, r.Again
		})
		for i, c := range changes {
			_, applied, err := d.Bar(t.Context(), c.ID, 1)
			n, _, failed := d.slotNumber(i)
			if err := errors.Join(err, failed); err != nil || !applied || n != 100+round {
				t.Errorf("slot %d is %d, and Bar says %v, %v", i, n, applied, err)
			}
			if errs[2*i] != nil || errs[2*i+1] == nil && again[2*i] == again[2*i+1] {
				t.Errorf("change %d was applied with %v and %v, again %v and %v", i, errs[2*i], errs[2*i+1], again[2*i], again[2*i+1])
			}
		}
	}
}

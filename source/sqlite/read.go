package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Read implements source.Source. The statement runs when the rows are ranged over. It first runs in a form that costs
// less per record. That form can't answer for a sum beyond 64 bits, or a key of another type than its column's. Then
// the statement runs again in the exact form. If it needs too much memory, it runs again with its views apart.
// Otherwise a refusal could reveal something: SQLite may have read long values of hidden records through an index or
// a comparison.
func (s *Source) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	ways := []sqldriver.Database{first{engine{s}}, engine{s}, apart{engine{s}}}
	if s.wide {
		ways[0] = ways[1]
	}
	rows, err := sqldriver.Read(ctx, ways[0], p)
	if err != nil {
		return nil, err
	}
	return func(yield func(value.Row, error) bool) {
		left := sqldriver.Sending()
		for at := 0; ; {
			next := 0
			before := left
			before.Resume(rows, func(row value.Row, err error) bool {
				if err != nil && ctx.Err() == nil {
					if next = after(at, err); next > 0 {
						return false
					}
				}
				if err == nil {
					left.Add(row)
				}
				return yield(row, err)
			})
			if next == 0 {
				return
			}
			at = next
			if rows, err = sqldriver.Read(ctx, ways[at], p); err != nil {
				yield(nil, err)
				return
			}
		}
	}, nil
}

// after returns the way in which a statement should run again, after it failed with err in the way at. It returns 0
// if it shouldn't run again.
func after(at int, err error) int {
	switch {
	case at == 0 && isInconclusive(err):
		return 1
	case at < 2 && large(err):
		return 2
	}
	return 0
}

// isInconclusive reports whether a statement of first failed because that form can't answer.
func isInconclusive(err error) bool {
	if errors.Is(err, errKnown) || errors.Is(err, errShort) {
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_ERROR && (strings.Contains(e.Error(), "integer overflow") || strings.Contains(e.Error(), doubt))
}

// errKnown is the error for a statement that isn't run, because it was inconclusive before.
var errKnown = errors.New("a statement that ended in doubt before")

// errShort is the error for a page of a statement with Ahead that isn't full.
var errShort = errors.New("there may be more records")

// runAhead is like run, for a statement with Ahead. It keeps the records until the page is full, so that another
// statement can answer completely. Above 1 MiB it sends them.
func runAhead(ctx context.Context, db *sql.DB, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	var kept []value.Row
	rows, size, ended := 0, 0, false
	var text []byte // of a list or an object, reused
	send := func(row value.Row) bool {
		ended = ended || !yield(row, nil)
		return !ended
	}
	err := run(ctx, db, st, plan, func(row value.Row, _ error) bool {
		rows++
		if size > 1<<20 {
			return send(row)
		}
		for _, v := range row {
			if text = text[:0]; v.Kind() == value.Array || v.Kind() == value.Object {
				text = v.AppendJSON(text)
			}
			size += len(v.Text()) + len(text)
		}
		kept = append(kept, slices.Clone(row))
		if size <= 1<<20 && rows <= plan.Limit {
			return true
		}
		for _, row := range kept {
			if !send(row) {
				return false
			}
		}
		kept = nil
		return true
	})
	if err == nil && !ended && rows <= plan.Limit {
		return errShort
	}
	return err
}

// doubts contains the hashes of statements that were inconclusive. They would be so again until the records change.
// The hash includes the arguments, so that the records of one tenant don't make statements of another tenant slower.
type doubts struct {
	mu   sync.Mutex
	seed maphash.Seed
	all  map[uint64]bool
}

// mostDoubts is the maximum number of hashes. At that number, all are removed.
const mostDoubts = 1024

// has reports whether a statement was inconclusive before.
func (d *doubts) has(st *sqlgen.Statement) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all) > 0 && d.all[d.hash(st)]
}

func (d *doubts) hash(st *sqlgen.Statement) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	h.WriteString(st.Text)
	fmt.Fprintf(&h, "%#v", st.Args)
	return h.Sum64()
}

// note records that a statement was inconclusive.
func (d *doubts) note(st *sqlgen.Statement) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil || len(d.all) >= mostDoubts {
		d.seed, d.all = maphash.MakeSeed(), map[uint64]bool{}
	}
	d.all[d.hash(st)] = true
}

// Run implements sqldriver.Database.
func (s engine) Run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	return run(ctx, s.db, st, plan, yield)
}

// first implements sqldriver.Database for statements that may have to run again.
type first struct{ engine }

// Dialect implements sqldriver.Database.
func (first) Dialect() sqlgen.Dialect { return dialect{first: true} }

// Run implements sqldriver.Database.
func (s first) Run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	if s.known.has(st) {
		return errKnown
	}
	var err error
	if st.Ahead {
		err = runAhead(ctx, s.db, st, plan, yield)
	} else {
		err = run(ctx, s.db, st, plan, yield)
	}
	if err != nil && isInconclusive(err) {
		s.known.note(st)
	}
	return err
}

// apart implements sqldriver.Database for statements whose views are computed apart.
type apart struct{ engine }

// Dialect implements sqldriver.Database.
func (s apart) Dialect() sqlgen.Dialect { return dialect{apart: true, wide: s.wide} }

// Run implements sqldriver.Database.
func (s apart) Run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	return run(ctx, s.Source.apart, st, plan, yield)
}

func run(ctx context.Context, db *sql.DB, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	if sqlgen.ReadsByKey(plan) {
		return lookUp(ctx, db, st, plan, yield)
	}
	rows, err := db.QueryContext(ctx, st.Text, st.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return sqldriver.Stream(rows, st, plan, readValue, yield)
}

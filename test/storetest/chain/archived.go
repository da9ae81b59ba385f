// Package chain tests the hash chain of the audit in a store. Modifications must be detected, and the oldest records
// can be moved to files.
package chain

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
)

// Times of the records. The first 25 records are old.
var (
	old   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	limit = old.Add(time.Hour)
)

// A Case is a new store with its database.
type Case struct {
	storetest.Store
	Database Database
}

// CheckArchives runs the tests of archives. open opens a new store.
func CheckArchives(t *testing.T, open func(t *testing.T) Case) {
	t.Run("moved", func(t *testing.T) { testMoved(t, open(t)) })
	t.Run("interrupted", func(t *testing.T) { testInterrupted(t, open(t)) })
	t.Run("damaged", func(t *testing.T) { testDamaged(t, open(t)) })
	t.Run("beside another", func(t *testing.T) { testBeside(t, open(t)) })
	t.Run("guarded", func(t *testing.T) { testGuarded(t, open(t)) })
}

// fill appends 25 old records, including records of a token, and 5 new records.
func fill(t *testing.T, s storetest.Store) {
	t.Helper()
	tokens := identity.NewTokens(identity.TokenOptions{Store: s, Audit: dated{s, old}})
	if _, _, err := tokens.Create(t.Context(), identity.Local("ops"), identity.Token{Name: "bot", Owner: "ana", Scopes: []identity.Scope{identity.Read}}); err != nil {
		t.Fatal(err)
	}
	for i := range 29 {
		r := audit.Record{Time: old, Principal: "token:bot", Correlation: fmt.Sprint(i), Tool: "query", Outcome: audit.OK}
		if i >= 24 {
			r.Time = limit
		}
		if err := s.Append(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
}

// A dated is a log whose records all have the same time.
type dated struct {
	audit.Log
	at time.Time
}

// Append implements audit.Log.
func (d dated) Append(ctx context.Context, r *audit.Record) error {
	r.Time = d.at
	return d.Log.Append(ctx, r)
}

func options(dir string) store.ArchiveOptions {
	return store.ArchiveOptions{Dir: dir, Before: limit, By: "local:ops", PerFile: 10}
}

func move(t *testing.T, s storetest.Store, dir string) store.MovedRecords {
	t.Helper()
	moved, err := store.MoveRecords(t.Context(), s, options(dir))
	if err != nil {
		t.Fatal(err)
	}
	return moved
}

// verify verifies the archive and the store as one log. It returns the damage in the form "altered 5-5 …".
func verify(t *testing.T, s storetest.Store, kept []audit.Head, dirs ...string) (audit.Report, string) {
	t.Helper()
	log := audit.Chain(s)
	if dirs != nil {
		joined, err := store.OpenArchive(s, kept, dirs...)
		if err != nil {
			t.Fatal(err)
		}
		log = joined
	}
	report, err := audit.Verify(t.Context(), log, kept...)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range report.Damage {
		out = append(out, fmt.Sprintf("%s %d-%d", d.Kind, d.Seq, d.Last))
	}
	return report, strings.Join(out, " ")
}

// testMoved moves 25 records to three files. The store and the files must together be the whole log. A second move
// must find nothing, and moved steps must not be recorded again.
func testMoved(t *testing.T, c Case) {
	fill(t, c)
	dir := filepath.Join(t.TempDir(), "archive")
	moved := move(t, c, dir)
	if moved.Records != 25 || len(moved.Files) != 3 || moved.Base.Seq != 25 {
		t.Fatalf("%+v", moved)
	}
	// 30 records, and three records about the moves.
	if report, damage := verify(t, c, nil); damage != "" || report.Records != 8 || report.Base != moved.Base || report.Head.Seq != 33 {
		t.Errorf("the store alone: %+v", report)
	}
	if report, damage := verify(t, c, nil, dir); damage != "" || report.Records != 33 || report.Base.Seq != 0 {
		t.Errorf("archive and store: %+v", report)
	}
	if again := move(t, c, dir); again.Records != 0 || again.Base != moved.Base {
		t.Errorf("a second time: %+v", again)
	}
	// The records of tokens and changes stay for later comparisons. They are not recorded a second time.
	held, err := identity.Reconcile(t.Context(), c, c)
	if err != nil || len(held.Lacks) > 0 || held.Tokens != 1 || held.Older != 0 {
		t.Errorf("%+v, %v", held, err)
	}
	all, err := c.FindTokens(t.Context(), identity.TokenFilter{})
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	step := audit.Record{Time: limit, Principal: "x", Tool: "x", Outcome: audit.OK, Step: "token:" + all[0].ID + ":created"}
	if err := c.Append(t.Context(), &step); err != nil || step.Seq != 1 || step.Tool == "x" {
		t.Errorf("a step that was archived: %+v, %v", step, err)
	}
	for _, name := range moved.Files {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// A broken store fails at one step of a move, as if the process were killed there.
type broken struct {
	storetest.Store
	at string
}

var errBroken = errors.New("broken")

// Append implements audit.Log.
func (b broken) Append(ctx context.Context, r *audit.Record) error {
	if b.at == "append" {
		return errBroken
	}
	return b.Store.Append(ctx, r)
}

// Prune implements store.ArchiveStore.
func (b broken) Prune(ctx context.Context, from, to audit.Head) error {
	if b.at == "prune" {
		return errBroken
	}
	if err := b.Store.Prune(ctx, from, to); err != nil || b.at != "after" {
		return err
	}
	return errBroken
}

// testInterrupted interrupts a move at each of its steps. Nothing may be damaged. The next move must complete the
// work, whatever files it finds.
func testInterrupted(t *testing.T, c Case) {
	fill(t, c)
	dir := t.TempDir()
	for _, at := range []string{"append", "prune", "after"} {
		// A shorter file with the same beginning may also be left.
		short := options(dir)
		short.PerFile = 3
		for _, o := range []store.ArchiveOptions{short, options(dir)} {
			if _, err := store.MoveRecords(t.Context(), broken{c.Store, at}, o); !errors.Is(err, errBroken) {
				t.Fatal(at, err)
			}
			if _, damage := verify(t, c, nil); damage != "" {
				t.Errorf("%s, the store alone: %s", at, damage)
			}
			if _, damage := verify(t, c, nil, dir); damage != "" {
				t.Errorf("%s, archive and store: %s", at, damage)
			}
		}
	}
	if moved := move(t, c, dir); moved.Base.Seq != 25 {
		t.Errorf("%+v", moved)
	}
	report, damage := verify(t, c, nil, dir)
	if damage != "" || report.Records != report.Head.Seq {
		t.Errorf("%+v", report)
	}
	base, err := c.Base(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Prune(t.Context(), audit.Head{}, base); !errors.Is(err, audit.ErrMoved) {
		t.Errorf("from a beginning that has moved: %v", err)
	}
}

// A damage modifies files or the store. kept is the argument for verify, and want is its expected result.
type damage struct {
	name   string
	breaks func() error
	kept   []audit.Head
	want   string
}

// damages returns ways to damage the files of an archive. lines contains the lines of the second file, which has the
// records 11 to 20.
func damages(c Case, files, lines []string) []damage {
	first, second, whole := files[0], files[1], strings.Join(lines, "")
	write := func(text string) func() error {
		return func() error { return os.WriteFile(second, []byte(text), 0o600) }
	}
	keeps := func(hash string) []audit.Head { return []audit.Head{{Seq: 20, Hash: hash}} }
	return []damage{
		{"nothing", func() error { return nil }, nil, ""},
		{"a kept head", func() error { return nil }, keeps(hashOf(lines[9])), ""},
		{"another kept head", func() error { return nil }, keeps(strings.Repeat("ab", 32)), "forked 1-20"},
		{"compressed", func() error { return compress(second) }, nil, ""},
		{"a letter", write(strings.Replace(whole, `"tool":"query"`, `"tool":"qwery"`, 1)), nil, "altered 11-11"},
		{"a letter and the hash", func() error { return forgeRecord(second, lines) }, nil, "forked 15-16"},
		{"white space", write(strings.Replace(whole, `"tool":`, `"tool": `, 1)), nil, "altered 11-11"},
		{"a line gone", write(strings.Join(slices.Delete(slices.Clone(lines), 3, 4), "")), nil, "missing 14-14"},
		{"no records", write("\n"), nil, "altered 11-11 missing 12-20"},
		{"a file gone", func() error { return os.Remove(second) }, nil, "missing 11-20"},
		{"the first file gone", func() error { return os.Remove(first) }, nil, "missing 1-10"},
		{"the store's copy of a step", func() error { return run(c, `UPDATE {audit} SET hash = {0} WHERE seq = 1`) }, nil, "altered 1-1"},
		{"one before the first", func() error {
			return run(c, `INSERT INTO {audit} SELECT -7, prev, hash, body FROM {audit} WHERE seq = 28`)
		}, nil, "inserted 1-1"},
		{"the beginning moved on", func() error {
			return run(c, `UPDATE {audit}_base SET seq = 28, hash = (SELECT hash FROM {audit} WHERE seq = 28);DELETE FROM {audit} WHERE seq <= 28`)
		}, nil, "missing 26-28"},
	}
}

// forgeRecord replaces record 15 in the lines by a record with other content and the matching hash.
func forgeRecord(name string, lines []string) error {
	r, err := audit.ParseLine([]byte(strings.TrimSuffix(lines[4], "\n")))
	if err != nil {
		return err
	}
	r.Tool = "count"
	audit.Seal(audit.Head{Seq: 14, Hash: r.Prev}, &r)
	return os.WriteFile(name, []byte(strings.Join(lines[:4], "")+string(r.AppendJSON(nil))+"\n"+strings.Join(lines[5:], "")), 0o600)
}

// hashOf returns the hash of the record in a line, or "" if the line is not a record.
func hashOf(line string) string {
	r, _ := audit.ParseLine([]byte(strings.TrimSuffix(line, "\n")))
	return r.Hash
}

// testDamaged damages the files and the store in different ways. It undoes each damage before the next.
func testDamaged(t *testing.T, c Case) {
	fill(t, c)
	dir := t.TempDir()
	moved := move(t, c, dir)
	if err := run(c, c.Database.Off); err != nil {
		t.Fatal(err)
	}
	second := moved.Files[1]
	whole, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	first := moved.Files[0]
	for _, tt := range damages(c, moved.Files, lines) {
		t.Run(tt.name, func(t *testing.T) {
			if err := run(c, "CREATE TABLE whole AS SELECT * FROM {audit};CREATE TABLE base AS SELECT * FROM {audit}_base"); err != nil {
				t.Fatal(err)
			}
			kept, err := os.ReadFile(first)
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.breaks(); err != nil {
				t.Fatal(err)
			}
			if _, got := verify(t, c, tt.kept, dir); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if err := errors.Join(os.RemoveAll(second+".gz"), os.WriteFile(second, whole, 0o600), os.WriteFile(first, kept, 0o600)); err != nil {
				t.Fatal(err)
			}
			err = run(c, "DELETE FROM {audit};INSERT INTO {audit} SELECT * FROM whole;DELETE FROM {audit}_base;INSERT INTO {audit}_base SELECT * FROM base;DROP TABLE whole;DROP TABLE base")
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	// With the record before the first remaining file, verify starts there.
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	before := audit.Head{Seq: 10, Hash: mustPrev(t, lines[0])}
	if report, got := verify(t, c, []audit.Head{before}, dir); got != "" || report.Base != before {
		t.Errorf("%s, %+v", got, report)
	}
	// The store without the archive: no record explains its beginning, and only the archive contains the known head.
	if err := run(c, `UPDATE {audit}_base SET seq = 24`); err != nil {
		t.Fatal(err)
	}
	if _, got := verify(t, c, nil); !strings.HasPrefix(got, "missing 1-24") {
		t.Error(got)
	}
	if err := run(c, `UPDATE {audit}_base SET seq = 25`); err != nil {
		t.Fatal(err)
	}
	if _, got := verify(t, c, []audit.Head{before}); got != "missing 10-10" {
		t.Error(got)
	}
}

func mustPrev(t *testing.T, line string) string {
	t.Helper()
	r, err := audit.ParseLine([]byte(strings.TrimSuffix(line, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return r.Prev
}

// compress replaces a file by its compressed form.
func compress(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := os.Create(name + ".gz")
	if err != nil {
		return err
	}
	w := gzip.NewWriter(f)
	_, err = w.Write(text)
	return errors.Join(err, w.Close(), f.Close(), os.Remove(name))
}

// run executes statements. It replaces placeholders by the names of the store's tables.
func run(c Case, text string) error {
	for statement := range strings.SplitSeq(text, ";") {
		statement = strings.NewReplacer("{audit}", c.Database.Schema+"audit", "{0}", c.Database.Byte).Replace(statement)
		if err := c.Database.Exec(statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// testGuarded checks which modifications the database itself refuses.
func testGuarded(t *testing.T, c Case) {
	fill(t, c)
	move(t, c, t.TempDir())
	for _, statement := range []string{
		"DELETE FROM {audit}", "DELETE FROM {audit} WHERE seq = 26", "DELETE FROM {audit} WHERE seq = 1", "UPDATE {audit} SET body = ''",
		"UPDATE {audit}_base SET seq = 3", "UPDATE {audit}_base SET seq = 26", "UPDATE {audit}_base SET seq = 99", "DELETE FROM {audit}_base",
	} {
		if err := run(c, statement); err == nil {
			t.Error(statement, "went through")
		}
	}
}

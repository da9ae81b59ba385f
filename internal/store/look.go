package store

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// A BlockStore is a log of records with their blocks.
type BlockStore interface {
	audit.Reader
	audit.Archived
	// Search is LookBack, with the fields of a RecordQuery.
	Search(ctx context.Context, period [2]time.Time, before int64, words map[string]string, yield func(*audit.Record) bool) error
	// RecordsAt returns the records with the given numbers, in any order. It omits those that don't exist.
	RecordsAt(ctx context.Context, numbers []int64) ([]audit.Record, error)
	// BlockNumbers returns the numbers of the blocks whose last record is unchanged, in descending order: all of them,
	// and those that match a query.
	BlockNumbers(ctx context.Context, of ChangeLookup) ([]int64, error)
	// Blocks returns the blocks with the given numbers, in any order.
	Blocks(ctx context.Context, numbers []int64) ([]Block, error)
	// AddBlock stores a block in place of an older one, unless the beginning of the log is not base any more.
	AddBlock(ctx context.Context, b Block, base audit.Head) error
	// BlockSQL returns the SQL of blocks.
	BlockSQL() ChangeQueries
}

// A RecordQuery selects records by their time, and by words that they must have, by kind. "agent", "class" and "text" find
// parts of names. "tool", "outcome" and "tenant" find whole names. Before is a Seq, or 0: only older records are selected.
type RecordQuery struct {
	From, To time.Time
	Before   int64
	Words    map[string]string
}

// longest is the longest duration of a call. Records are in the order of their ends, and have the time of their start.
const longest = time.Hour

// LookBack passes records that may match q to yield, the newest first, until yield returns false. Others may be among
// them, so the caller compares each record, and copies those that it keeps. Of a record that was found by its block, it
// passes the summary, without Hash. It reads records without a block directly, and skips blocks that can't match.
func LookBack(ctx context.Context, s BlockStore, q RecordQuery, yield func(*audit.Record) bool) error {
	head, err := s.Head(ctx)
	if err != nil {
		return err
	}
	known, err := s.BlockNumbers(ctx, s.BlockSQL().blocks(RecordQuery{}))
	if err != nil {
		return err
	}
	matching, err := s.BlockNumbers(ctx, s.BlockSQL().blocks(q))
	if err != nil {
		return err
	}
	l := lookBack{s: s, q: q, yield: yield, wanted: matching}
	from := head.Seq / BlockSize // the block that isn't full yet
	if q.Before > 0 {
		from = min(from, (q.Before-1)/BlockSize)
	}
	for at := from; at >= 0 && !l.done; {
		if _, ok := slices.BinarySearchFunc(known, at, descending); ok {
			at, err = l.summaries(ctx, at, known)
		} else {
			at, err = l.direct(ctx, at, known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func descending(a, b int64) int { return int(b - a) }

// A lookBack is a LookBack in progress.
type lookBack struct {
	s      BlockStore
	q      RecordQuery
	yield  func(*audit.Record) bool
	wanted []int64 // the numbers of the blocks that match
	buf    []audit.Record
	done   bool
}

// blocksAtOnce is the number of blocks that are read with one statement.
const blocksAtOnce = 32

// summaries passes on the records of the block at and of the known blocks before it, without a gap. It returns the number
// of the next block. A block that can't be read is read as records.
func (l *lookBack) summaries(ctx context.Context, at int64, known []int64) (next int64, err error) {
	i, _ := slices.BinarySearchFunc(known, at, descending)
	end := i
	for end < len(known) && known[end] == at-int64(end-i) {
		end++
	}
	next = at - int64(end-i)
	from, _ := slices.BinarySearchFunc(l.wanted, at, descending)
	to, _ := slices.BinarySearchFunc(l.wanted, next, descending)
	for part := range slices.Chunk(l.wanted[from:to], blocksAtOnce) {
		blocks, err := l.s.Blocks(ctx, part)
		if err != nil {
			return 0, err
		}
		slices.SortFunc(blocks, func(a, b Block) int { return descending(a.Number, b.Number) })
		for _, b := range blocks {
			records, err := b.Records(l.buf)
			if err != nil {
				if err := l.read(ctx, b.Number, b.Number); err != nil {
					return 0, err
				}
			} else {
				l.buf = records
			}
			for i := len(records) - 1; i >= 0 && !l.done; i-- {
				l.take(&records[i])
			}
			if l.done {
				return 0, nil
			}
		}
	}
	return next, nil
}

// direct passes on the records of the block at and of all before it that are not known. It returns the number of the next
// block.
func (l *lookBack) direct(ctx context.Context, at int64, known []int64) (next int64, err error) {
	next = -1
	if i, _ := slices.BinarySearchFunc(known, at, descending); i < len(known) {
		next = known[i]
	}
	return next, l.read(ctx, next+1, at)
}

// read passes on the records of the blocks first to last, without their blocks. It ends the search at a call that began
// long before the period.
func (l *lookBack) read(ctx context.Context, first, last int64) error {
	end := (last + 1) * BlockSize
	return l.s.Backwards(ctx, end, func(r audit.Record) bool {
		if r.Seq <= first*BlockSize && first > 0 {
			return false
		}
		if r.Step == "" && r.Time.Before(l.q.From.Add(-longest)) {
			l.done = true
			return false
		}
		l.take(&r)
		return !l.done
	})
}

func (l *lookBack) take(r *audit.Record) {
	if !r.Time.Before(l.q.From) && (l.q.To.IsZero() || r.Time.Before(l.q.To)) && (l.q.Before == 0 || r.Seq < l.q.Before) {
		l.done = !l.yield(r)
	}
}

// blocks returns the query for the numbers of the blocks that may have records of q. It omits a block whose last record
// is another one than when the block was written.
func (d ChangeQueries) blocks(q RecordQuery) ChangeLookup {
	var b builder
	b.add(`SELECT b.number FROM ` + d.Schema + `audit_block AS b LEFT JOIN ` + d.Schema + `audit AS a ON a.seq = (b.number + 1) * 2048 WHERE coalesce(a.hash, ` + d.Empty + `) = b.hash`)
	if !q.From.IsZero() {
		b.add(` AND b.last >= ?`, q.From.UnixMicro())
	}
	if !q.To.IsZero() {
		b.add(` AND b.first < ?`, q.To.UnixMicro())
	}
	if q.Before > 0 {
		b.add(` AND b.number <= ?`, (q.Before-1)/BlockSize)
	}
	in := ` AND b.number IN (SELECT w.block FROM ` + d.Schema + `audit_word AS w WHERE `
	parts := `w.word IN (SELECT n.word FROM ` + d.Schema + `audit_name AS n WHERE n.word >= ? AND n.word < ? AND ` + d.Contains + `(substr(n.word, 2), ?) > 0)`
	for _, w := range []struct{ name, kind string }{{"tool", wordTool}, {"outcome", wordOutcome}, {"tenant", wordTenant}} {
		if text := q.Words[w.name]; text != "" {
			b.add(in+`w.word = ?)`, recordWord(w.kind, text))
		}
	}
	for _, w := range []struct{ name, kind string }{{"agent", wordAgent}, {"class", wordClass}} {
		if text := q.Words[w.name]; text != "" {
			b.add(in+parts+`)`, w.kind, w.kind+last, recordWord("", text))
		}
	}
	if text := q.Words["text"]; text != "" {
		id := recordWord(wordID, text)
		b.add(in+`w.word >= ? AND w.word < ? OR `+parts+`)`, id, id+last, wordReason, wordReason+last, recordWord("", text))
	}
	b.add(` ORDER BY b.number DESC`)
	return b.ask(d)
}

// FillBlocks writes the missing blocks of s, the newest first. It omits blocks with records that can't be read.
func FillBlocks(ctx context.Context, s BlockStore) error {
	head, err := s.Head(ctx)
	if err != nil {
		return err
	}
	known, err := s.BlockNumbers(ctx, s.BlockSQL().blocks(RecordQuery{}))
	if err != nil {
		return err
	}
	for number := head.Seq/BlockSize - 1; number >= 0 && ctx.Err() == nil; number-- {
		if _, ok := slices.BinarySearchFunc(known, number, descending); ok {
			continue
		}
		if err := fillBlock(ctx, s, number); err != nil {
			if _, damaged := errors.AsType[*audit.Damage](err); !damaged {
				return err
			}
		}
	}
	return ctx.Err()
}

// fillBlock writes one block. If an archive takes records meanwhile, it writes nothing.
func fillBlock(ctx context.Context, s BlockStore, number int64) error {
	base, err := s.Base(ctx)
	if err != nil {
		return err
	}
	end := (number + 1) * BlockSize
	records := make([]audit.Record, 0, BlockSize)
	err = s.Records(ctx, number*BlockSize+1, func(r audit.Record) bool {
		if r.Seq > end {
			return false
		}
		records = append(records, r)
		return r.Seq < end
	})
	if err != nil {
		return err
	}
	hash := []byte{}
	if n := len(records); n > 0 && records[n-1].Seq == end {
		if hash, err = hex.DecodeString(records[n-1].Hash); err != nil {
			return err
		}
	}
	return s.AddBlock(ctx, NewBlock(number, records, hash), base)
}

// fillEvery is the interval between two runs of FillBlocks.
const fillEvery = 5 * time.Second

// KeepBlocks writes the missing blocks of s, until stop is called. While blocks are missing, searches read the records.
func KeepBlocks(ctx context.Context, s BlockStore, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := FillBlocks(ctx, s); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "summaries of the audit can't be written. Searches of the audit read its records instead", "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(fillEvery):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// JoinNumbers returns numbers as a list in SQL.
func JoinNumbers(numbers []int64) string {
	var out strings.Builder
	for i, n := range numbers {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(strconv.FormatInt(n, 10))
	}
	return out.String()
}

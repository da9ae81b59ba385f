package records

import (
	"context"
	"encoding/hex"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// PageSize is how many records are read at once.
const PageSize = 500

// A Row is a record as stored.
type Row struct {
	Seq        int64
	Prev, Hash []byte
	Body       []byte // the canonical form
}

// A Page reads up to PageSize rows in order of Seq, from the one with Seq from on.
type Page func(ctx context.Context, from int64) ([]Row, error)

// Forwards gives the records of pages that go up to yield, as audit.Reader's Records does.
func Forwards(ctx context.Context, page Page, from int64, yield func(audit.Record) bool) error {
	return walk(ctx, page, from, way{+1, audit.Last}, yield)
}

// Backwards gives the records of pages that go down likewise.
func Backwards(ctx context.Context, page Page, from int64, yield func(audit.Record) bool) error {
	return walk(ctx, page, from, way{-1, audit.First}, yield)
}

// A way is where the page behind the one that ends with seq begins, and beyond what nothing lies.
type way struct{ step, end int64 }

// walk holds nothing of the database while yield runs.
func walk(ctx context.Context, page Page, from int64, w way, yield func(audit.Record) bool) error {
	for {
		rows, err := page(ctx, from)
		if err != nil {
			return err
		}
		for _, r := range rows {
			record, err := audit.Parse(r.Body)
			if err != nil {
				return &audit.Damage{Seq: r.Seq, Last: r.Seq, Kind: audit.Altered, Detail: "its text is not what a record's is"}
			}
			record.Prev, record.Hash = hex.EncodeToString(r.Prev), hex.EncodeToString(r.Hash)
			if !yield(record) {
				return nil
			}
		}
		if len(rows) < PageSize || rows[len(rows)-1].Seq == w.end {
			return nil
		}
		from = rows[len(rows)-1].Seq + w.step
	}
}

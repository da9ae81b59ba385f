package store

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// PageSize is the number of records per page.
const PageSize = 500

// A RecordRow is a record in stored form.
type RecordRow struct {
	Seq        int64
	Prev, Hash []byte
	Body       []byte // the canonical form
}

// A RecordPage reads up to PageSize rows in order of Seq, starting at from.
type RecordPage func(ctx context.Context, from int64) ([]RecordRow, error)

// ReadForwards passes the records of ascending pages to yield, like the method Records of audit.Reader.
func ReadForwards(ctx context.Context, page RecordPage, from int64, yield func(audit.Record) bool) error {
	return walk(ctx, page, from, way{+1, audit.Last}, yield)
}

// ReadBackwards passes the records of descending pages to yield, like the method Backwards of audit.Reader.
func ReadBackwards(ctx context.Context, page RecordPage, from int64, yield func(audit.Record) bool) error {
	return walk(ctx, page, from, way{-1, audit.First}, yield)
}

// A way is a direction: the step from a page's last Seq to the next page, and the last possible Seq.
type way struct{ step, end int64 }

// walk passes the records of pages to yield. It holds no resource of the database while yield runs. From the second
// page on, it reads and decodes the next page while yield handles the current one.
func walk(ctx context.Context, page RecordPage, from int64, w way, yield func(audit.Record) bool) error {
	at := recordsRead(ctx, page, from)
	for first := true; ; first = false {
		more := at.err == nil && len(at.records) == PageSize && at.last != w.end
		next := at.last + w.step
		ahead := make(chan reading, 1)
		if more && !first {
			go func() { ahead <- recordsRead(ctx, page, next) }()
		}
		for i := range at.records {
			if !yield(at.records[i]) {
				if more && !first {
					<-ahead // waits for the end of the goroutine
				}
				return nil
			}
		}
		switch {
		case at.err != nil:
			return at.err
		case !more:
			return nil
		case first:
			at = recordsRead(ctx, page, next)
		default:
			at = <-ahead
		}
	}
}

// A reading is a decoded page, up to the record that caused err.
type reading struct {
	records []audit.Record
	last    int64 // the Seq of the last row
	err     error
}

// recordsRead returns a page of records, up to the first record that can't be read. This record causes the error.
func recordsRead(ctx context.Context, page RecordPage, from int64) reading {
	rows, err := page(ctx, from)
	out := reading{records: make([]audit.Record, 0, len(rows)), err: err}
	for _, r := range rows {
		record, err := r.Record()
		if err != nil {
			out.err = err
			return out
		}
		out.records, out.last = append(out.records, record), r.Seq
	}
	return out
}

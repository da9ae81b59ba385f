package store

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// mostAtOnce is the maximum number of records in one write.
const mostAtOnce = 512

// ErrClosed is the error of a closed RecordWriter.
var ErrClosed = errors.New("the store is closed")

// A RecordWriter collects the records that arrive during a write, so that many callers share one commit.
type RecordWriter struct {
	write   func([]*audit.Record) error
	appends chan *waiting
	closing chan struct{}
	closed  chan struct{} // closed when the goroutine has ended
	shut    atomic.Bool
}

// waiting is a record to be written.
type waiting struct {
	record audit.Record
	done   chan error // receives one result
}

// NewRecordWriter returns a RecordWriter that calls write from one goroutine. write must append all records to the
// chain, or none. The caller must close the RecordWriter.
func NewRecordWriter(write func([]*audit.Record) error) *RecordWriter {
	w := &RecordWriter{write: write, appends: make(chan *waiting, mostAtOnce), closing: make(chan struct{}), closed: make(chan struct{})}
	go w.run()
	return w
}

// Append returns after r is stored, and sets its place in the chain.
func (w *RecordWriter) Append(ctx context.Context, r *audit.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.shut.Load() {
		return ErrClosed
	}
	one := &waiting{record: r.Copy(), done: make(chan error, 1)} // a copy, since the caller may modify r before it is written
	select {
	case w.appends <- one:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closed:
		return ErrClosed
	}
	var err error
	select {
	case err = <-one.done:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closed:
		select {
		case err = <-one.done:
		default:
			err = ErrClosed
		}
	}
	if err == nil {
		*r = one.record
	}
	return err
}

// Close waits for running appends.
func (w *RecordWriter) Close() {
	if !w.shut.Swap(true) {
		close(w.closing)
	}
	<-w.closed
}

// run writes all waiting records in one batch after another.
func (w *RecordWriter) run() {
	defer close(w.closed)
	for {
		select {
		case one := <-w.appends:
			w.batch(one)
		case <-w.closing:
			for {
				select {
				case one := <-w.appends:
					w.batch(one)
				default:
					return
				}
			}
		}
	}
}

// mostGathers is the maximum number of times that a batch waits for callers that are about to append.
const mostGathers = 4

// batch writes the record first and the records that wait behind it. It then answers their callers. Larger batches
// need fewer syncs. So batch lets other callers run first, and repeats that while it brings more records. If there
// are no other callers, it doesn't wait.
func (w *RecordWriter) batch(first *waiting) {
	all := []*waiting{first}
	for range mostGathers {
		runtime.Gosched()
		before := len(all)
		if all = w.gather(all); len(all) == before {
			break
		}
	}
	batch := make([]*audit.Record, len(all))
	for i, one := range all {
		batch[i] = &one.record
	}
	err := w.write(batch)
	for _, one := range all {
		one.done <- err
	}
}

// gather appends the records that are waiting now to all.
func (w *RecordWriter) gather(all []*waiting) []*waiting {
	for len(all) < mostAtOnce {
		select {
		case one := <-w.appends:
			all = append(all, one)
		default:
			return all
		}
	}
	return all
}

// Package records is what every store does with audit records beside its database: it writes those that come at once
// together, and reads the log page by page.
//
// It stands inside of the stores, behind audit.Log and audit.Reader. It answers an append when its record is kept, or
// with the error; after Close it refuses.
package records

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// MostAtOnce is the most records that one write gets.
const MostAtOnce = 512

// ErrClosed is the refusal of a Writer that was closed.
var ErrClosed = errors.New("the store is closed")

// A Writer gathers the records that come while others are being written, so that many callers share one commit.
type Writer struct {
	write   func([]*audit.Record) error
	appends chan *waiting
	closing chan struct{}
	closed  chan struct{} // the goroutine has ended
	shut    atomic.Bool
}

// waiting is a record on its way to the disk.
type waiting struct {
	record audit.Record
	done   chan error // gets one answer
}

// NewWriter returns a Writer over write, which is called by one goroutine: it seals all records onto the end of the
// chain and keeps them, or none. The caller closes it.
func NewWriter(write func([]*audit.Record) error) *Writer {
	w := &Writer{write: write, appends: make(chan *waiting, MostAtOnce), closing: make(chan struct{}), closed: make(chan struct{})}
	go w.run()
	return w
}

// Append returns when r is kept, with its place in the chain.
func (w *Writer) Append(ctx context.Context, r *audit.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.shut.Load() {
		return ErrClosed
	}
	one := &waiting{record: r.Copy(), done: make(chan error, 1)} // the caller may go on with r before it is written
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

// Close waits for the records that are being appended.
func (w *Writer) Close() {
	if !w.shut.Swap(true) {
		close(w.closing)
	}
	<-w.closed
}

// run makes one write after another, each of all records that wait.
func (w *Writer) run() {
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

// batch writes first and what waits behind it, and answers them all.
func (w *Writer) batch(first *waiting) {
	all := []*waiting{first}
gather:
	for len(all) < MostAtOnce {
		select {
		case one := <-w.appends:
			all = append(all, one)
		default:
			break gather
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

package records

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// TestPause: a batch that follows a large one waits for further callers, and one that follows a small one doesn't.
func TestPause(t *testing.T) {
	for _, test := range []struct {
		first  int // records in the batch before
		pauses bool
		want   []int // records in each batch
	}{
		{many - 1, false, []int{many - 1, 1, 1}},
		{many, true, []int{many, 2}},
	} {
		t.Run(fmt.Sprint(test.first), func(t *testing.T) {
			var got []int
			entered, written := make(chan bool), make(chan bool)
			w := &Writer{appends: make(chan *waiting, MostAtOnce), closing: make(chan struct{}), closed: make(chan struct{})}
			w.write = func(batch []*audit.Record) error {
				got = append(got, len(batch))
				entered <- true
				<-written
				return nil
			}
			var ended sync.WaitGroup
			appendOne := func() {
				ended.Go(func() {
					if err := w.Append(context.Background(), &audit.Record{}); err != nil {
						t.Error(err)
					}
				})
			}
			queued := func(n int) {
				for len(w.appends) < n { // the channel is filled by other goroutines
					runtime.Gosched()
				}
			}
			paused := false
			w.pause = func() {
				paused = true
				appendOne()
				queued(1)
			}
			for range test.first {
				appendOne()
			}
			queued(test.first)
			go w.run()
			<-entered
			appendOne()
			queued(1)
			written <- true
			<-entered
			if !test.pauses {
				appendOne()
				written <- true
				<-entered
			}
			written <- true
			ended.Wait()
			w.Close()
			if paused != test.pauses || fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("batches of %v, paused: %v; want %v, %v", got, paused, test.want, test.pauses)
			}
		})
	}
}

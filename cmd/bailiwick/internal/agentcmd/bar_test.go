package agentcmd

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

// A step is a number of records written at a time after the start.
type step struct {
	after   time.Duration
	records int
}

func TestBar(t *testing.T) {
	failed := errors.New("failed")
	for _, tt := range []struct {
		name  string
		total int64
		steps []step // the last step is the end
		err   error
		want  string
	}{
		{"known", 2000, []step{{0, 100}, {2 * time.Second, 1000}, {3 * time.Second, 1900}, {3200 * time.Millisecond, 2000}, {4 * time.Second, 2000}}, nil,
			"\r[=>                      ]   5%  100 of 2,000" +
				"\r[============>           ]  50%  1,000 of 2,000  500/s  2s left" +
				"\r[======================> ]  95%  1,900 of 2,000  633/s  1s left" +
				"\r[========================] 100%  2,000 of 2,000  625/s         " +
				"\r2,000 records in 4s, 500/s                            \n"},
		{"unknown", 0, []step{{time.Second, 100}, {90 * time.Second, 1234500}, {90 * time.Second, 1234567}}, nil,
			"\r100 records  100/s\r1,234,500 records  13,716/s\r1,234,567 records in 1m30s, 13,717/s\n"},
		{"only so often", 1000, []step{{0, 99}, {0, 100}, {199 * time.Millisecond, 200}, {200 * time.Millisecond, 300}, {time.Second, 1000}}, nil,
			"\r[==>                     ]  10%  100 of 1,000\r[=======>                ]  30%  300 of 1,000  1,500/s  1s left\r1,000 records in 1s, 1,000/s                                   \n"},
		{"more than was counted", 100, []step{{time.Hour, 7200}, {time.Hour, 7200}}, nil,
			"\r[========================] 100%  7,200 of 100  2/s\r7,200 records in 1h0m0s, 2/s                      \n"},
		{"a few", 3, []step{{0, 3}}, nil, "\r3 records\n"},
		{"failed at once", 3, []step{{0, 0}}, failed, ""},
		{"failed on the way", 0, []step{{0, 100}, {0, 150}}, failed, "\r100 records\r150 records\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			begin := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
			b := &bar{out: &out, began: begin, total: tt.total}
			for i, s := range tt.steps {
				b.now = func() time.Time { return begin.Add(s.after) }
				if i < len(tt.steps)-1 {
					b.update(s.records)
				} else {
					b.end(s.records, tt.err)
				}
			}
			if out.String() != tt.want {
				t.Errorf("\n%q, want\n%q", out.String(), tt.want)
			}
		})
	}
}

// TestNoBar checks that no bar is shown if the output is not a terminal.
func TestNoBar(t *testing.T) {
	for _, w := range []io.Writer{&bytes.Buffer{}, io.Discard} {
		if isTerminal(w) {
			t.Errorf("%T is a terminal", w)
		}
	}
	b := &bar{now: time.Now} // writing to the nil writer would panic
	b.update(100)
	b.end(100, nil)
}

package change_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestProgress checks how far several calls are said to have come.
func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		done int64
		n    int
		want string
	}{
		{0, 1, "Call 1 x"},
		{0, 2, "Call 1 x, call 2 was not sent"},
		{0, 3, "Call 1 x, calls 2 to 3 were not sent"},
		{1, 2, "Call 1 was carried out, call 2 x"},
		{1, 3, "Call 1 was carried out, call 2 x, call 3 was not sent"},
		{2, 5, "Calls 1 to 2 were carried out, call 3 x, calls 4 to 5 were not sent"},
	} {
		if got := change.Progress(tt.done, tt.n, "x"); got != tt.want {
			t.Errorf("%d of %d: %s, want %s", tt.done, tt.n, got, tt.want)
		}
	}
}

// TestEnded checks the words about the outcome of a change for each error of a target.
func TestEnded(t *testing.T) {
	no := &problem.Error{Code: problem.Upstream, Kind: "status", Detail: "the API says no.", Reply: &problem.Reply{}}
	partly := func(err error, left bool) error {
		return fmt.Errorf("wrapped: %w", &change.Partly{Done: change.Receipt{Rows: 1}, Of: 3, Err: err, Left: left})
	}
	unknown := &problem.Error{Code: problem.Upstream, Kind: "timeout", Detail: "no answer", Err: change.ErrUnknown}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"well", nil, `applied "" "" "" rows 2`},
		{"a record has moved", fmt.Errorf("wrapped: %w", &change.Moved{Now: []change.Effect{{Key: "7"}}}), `stale "the records have changed since the review. Nothing was written" "" "" now 7`},
		{"not known", unknown, `unknown "no answer" "" "timeout"`},
		{"open", no, "not ended"},
		{"one of several refused", partly(no, false), `failed "the API says no. Call 1 was carried out, call 2 was refused, call 3 was not sent" "upstream_error" "status" rows 1 reply`},
		{"one of several not sent", partly(no, true), `failed "the API says no. Call 1 was carried out, call 2 was not sent, call 3 was not sent" "upstream_error" "status" rows 1 reply`},
		{"one of several not known", partly(unknown, true), `unknown "no answer. Call 1 was carried out, call 2 may have happened or not, call 3 was not sent" "upstream_error" "timeout" rows 1`},
		{"one of several with an error of ours", partly(errors.New("disk on fire"), false), `failed "it could not be written. Call 1 was carried out, call 2 was refused, call 3 was not sent" "internal_error" "" rows 1`},
	} {
		event, o, ended := change.ApplyOutcome(change.Receipt{Rows: 2}, tt.err)
		got := "not ended"
		if ended {
			got = outcomeText(event, o)
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{no, `failed "the API says no. Nothing was written" "upstream_error" "status" reply`},
		{&problem.Error{Code: problem.Conflict}, `failed "it could not be written. Nothing was written" "conflict" ""`},
		{&problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "k"}, `failed "it could not be written. Nothing was written" "internal_error" "k"`},
	} {
		if event, o := change.FailureOutcome(tt.err); outcomeText(event, o) != tt.want {
			t.Errorf("got %s, want %s", outcomeText(event, o), tt.want)
		}
	}
	if text := (&change.Partly{Err: no}).Error(); text != no.Error() {
		t.Error(text)
	}
}

func outcomeText(event change.EventKind, o change.Outcome) string {
	text := fmt.Sprintf("%s %q %q %q", event, o.Detail, o.Code, o.Kind)
	if o.Receipt != nil {
		text += fmt.Sprint(" rows ", o.Receipt.Rows)
	}
	for _, e := range o.Now {
		text += " now " + e.Key
	}
	if o.Reply != nil {
		text += " reply"
	}
	return text
}

// TestLeft checks what is said of a change whose executor left while it was sending.
func TestLeft(t *testing.T) {
	one := "it was about to be sent when its executor left: it may have happened or not"
	for _, tt := range []struct {
		op   write.Op
		n    int
		done *change.Receipt
		want string
	}{
		{"call", 1, nil, one},
		{"update", 2, nil, one},
		{"call", 2, nil, "its executor left. Call 1 may have happened or not, call 2 was not sent"},
		{"call", 2, &change.Receipt{Rows: 1}, "its executor left. Call 1 was carried out, call 2 may have happened or not rows 1"},
	} {
		c := &change.Change{Op: tt.op, Writes: make([]value.Value, tt.n), Lease: change.Lease{Done: tt.done}}
		o := c.AbandonedOutcome()
		got := o.Detail
		if o.Receipt != nil {
			got += fmt.Sprint(" rows ", o.Receipt.Rows)
		}
		if got != tt.want {
			t.Errorf("%d %s: %s, want %s", tt.n, tt.op, got, tt.want)
		}
	}
}

package event_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/event"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		e    event.Event
		want error
	}{
		{event.Event{Topic: "rules"}, nil},
		{event.Event{Topic: "rules", Text: strings.Repeat("x", event.Most-5)}, nil},
		{event.Event{Topic: "rules", Text: strings.Repeat("x", event.Most-4)}, event.ErrInvalid},
		{event.Event{Text: "x"}, event.ErrInvalid},
		{event.Missed, event.ErrInvalid},
	} {
		if err := tt.e.Check(); !errors.Is(err, tt.want) {
			t.Errorf("%.20v: %v, want %v", tt.e, err, tt.want)
		}
	}
}

// TestSlow lets one listener stand still while more is told than may wait: it hears that it missed something, and all
// that was told since; another hears everything.
func TestSlow(t *testing.T) {
	var hub event.Hub
	ctx, cancel := context.WithCancel(t.Context())
	stand, stands := make(chan struct{}), make(chan struct{}, 1)
	var slow []string
	ended := make(chan error, 1)
	go func() {
		ended <- hub.Listen(ctx, func(e event.Event) {
			slow = append(slow, e.Topic+e.Text)
			if e.Text == "0" && len(stands) == 0 {
				stands <- struct{}{}
				<-stand
			}
			if e.Text == "last" {
				cancel()
			}
		})
	}()
	for len(stands) == 0 { // until it listens
		hub.Tell(event.Event{Topic: "n", Text: "0"})
	}
	for i := range 300 {
		hub.Tell(event.Event{Topic: "n", Text: fmt.Sprint(i + 1)})
	}
	hub.Tell(event.Event{Topic: "n", Text: "last"})
	close(stand)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var behind []string
	for i, s := range slow {
		if s == "missed" && i > 0 {
			behind = slow[i:]
		}
	}
	if slow[0] != "missed" || len(behind) < 2 || len(behind) > 258 || !cmp.Equal(behind[len(behind)-2:], []string{"n300", "nlast"}) {
		t.Errorf("heard %v", slow)
	}
}

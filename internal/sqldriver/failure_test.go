package sqldriver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestFailure checks that operators see the kind of an error. They see its message only if the message can't contain
// a value.
func TestFailure(t *testing.T) {
	const secret = "swordfish"
	coded, slow := errors.New("coded "+secret), errors.New("slow")
	e := Errors{Plain: func(err error) string {
		if errors.Is(err, coded) {
			return ErrorText("code 1", secret, false)
		}
		return ""
	}, Meaning: func(err error) (Meaning, bool) {
		if errors.Is(err, slow) {
			return Slow, true
		}
		return 0, false
	}}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("reading: %w", coded), "code 1"},
		{fmt.Errorf("cannot encode %q: %w", secret, errors.New(secret)), "an error of the driver (*errors.errorString)"},
		{fmt.Errorf("waiting for %s: %w", secret, context.DeadlineExceeded), "context deadline exceeded"},
		{fmt.Errorf("to %s: %w", secret, &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5432}, Err: errors.New("connection refused")}), "dial tcp 127.0.0.1:5432: connection refused"},
	} {
		p := problem.Of(e.refuse(t.Context(), tt.err, "0123"))
		if got := p.Err.Error(); got != tt.want+" (statement 0123)" {
			t.Errorf("%q, want %q", got, tt.want)
		}
		p = problem.Of(e.Refuse(t.Context(), tt.err))
		if got := p.Err.Error(); got != tt.want || !errors.Is(p, tt.err) || p.Code != problem.Upstream {
			t.Errorf("%s: %q, want %q", p.Code, got, tt.want)
		}
	}
	if p := problem.Of(e.Refuse(t.Context(), slow)); p.Code != problem.Timeout || p.Detail != "the query took too long and was stopped" {
		t.Error(p.Code, p.Detail)
	}
	if p := problem.Of(e.RefuseWrite(t.Context(), slow)); p.Code != problem.Timeout || p.Detail != "the write took too long and was stopped" {
		t.Error(p.Code, p.Detail)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p := problem.Of(e.RefuseWrite(ctx, slow)); p.Code != problem.Cancelled {
		t.Error(p.Code, p.Detail)
	}
}

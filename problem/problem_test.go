package problem

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	cause := errors.New("connection to 10.0.0.7 refused: password=x")
	known := &Error{Code: NotFound, Detail: "gone", Err: cause}
	for _, tt := range []struct {
		err  error
		code Code
		text string
	}{
		{known, NotFound, "not_found: gone"},
		{fmt.Errorf("reading: %w", known), NotFound, "not_found: gone"},
		{cause, Internal, "internal_error: Internal error"},
	} {
		if p := Of(tt.err); p.Code != tt.code || p.Error() != tt.text || !errors.Is(p, cause) || CodeOf(tt.err) != tt.code {
			t.Errorf("Of(%v) = %v", tt.err, p)
		}
	}
	if Of(nil) != nil || CodeOf(nil) != "" {
		t.Error("nil is a problem")
	}
}

func TestRetryable(t *testing.T) {
	for _, tt := range []struct {
		p    Error
		want bool
	}{
		{Error{Code: Timeout}, true}, {Error{Code: RateLimited}, true}, {Error{Code: Upstream}, true},
		{Error{Code: Upstream, Reply: &Reply{Status: 500}}, true}, {Error{Code: Upstream, Reply: &Reply{Status: 405}}, false},
		{Error{Code: Upstream, Reply: &Reply{Status: 405}, RetryAfter: 1}, true}, {Error{Code: RateLimited, Reply: &Reply{Status: 429}}, true},
		{Error{Code: NotFound}, false}, {Error{Code: Internal}, false}, {Error{Code: Conflict, RetryAfter: time.Second}, true},
	} {
		if tt.p.Retryable() != tt.want {
			t.Errorf("%s: retryable %v", tt.p.Code, !tt.want)
		}
	}
}

// TestNearest checks which names are similar enough.
func TestNearest(t *testing.T) {
	names := []string{"created_at", "updated_at", "status", "status", "title", "id", "assignee_id", "name", "$gt", "$gte"}
	for _, tt := range []struct {
		got  string
		want []string
	}{
		{"createdAt", []string{"created_at", "updated_at"}},
		{"staus", []string{"status"}},
		{"sattus", []string{"status"}},
		{"TITLE", []string{"title"}},
		{"assignee", []string{"assignee_id"}},
		{"$gtt", []string{"$gt", "$gte"}},
		{"nope", nil},
		{"password_hash", nil},
		{"", nil},
	} {
		if got := Nearest(tt.got, names, 2); !slices.Equal(got, tt.want) {
			t.Errorf("Nearest(%q) = %q, want %q", tt.got, got, tt.want)
		}
	}
}

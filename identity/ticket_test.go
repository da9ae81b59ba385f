package identity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// TestTakes checks that what a sign-in lacks is said by its cause.
func TestTakes(t *testing.T) {
	const recent = "a sign-in of the last 5m0s"
	if got := (identity.Principal{Proven: time.Now()}).Takes(5 * time.Minute); got != recent {
		t.Error(got)
	}
	if got := (identity.Principal{}).Takes(5 * time.Minute); !strings.HasPrefix(got, recent+", by a stronger proof than yours") {
		t.Error(got)
	}
}

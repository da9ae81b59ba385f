package user_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/scripts/mutate/testdata/known"
)

func TestBoth(t *testing.T) {
	if known.Kind(true, true) != "both" || known.Kind(true, false) != "a" {
		t.Error("not both")
	}
}

func TestNeither(t *testing.T) {
	if known.Kind(false, true) != "neither" {
		t.Error("not neither")
	}
}

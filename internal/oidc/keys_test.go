package oidc

import (
	"fmt"
	"testing"
	"time"
)

// TestMiss checks that the cache of unknown key ids has a limited size.
func TestMiss(t *testing.T) {
	var k keys
	now := time.Unix(0, 0)
	for n := range maxMissing {
		k.miss(fmt.Sprint(n), now)
	}
	if len(k.missing) != maxMissing {
		t.Errorf("%d of %d are remembered", len(k.missing), maxMissing)
	}
	k.miss("more", now)
	if len(k.missing) != 1 || !k.missing["more"].Equal(now) {
		t.Errorf("%d are remembered after one too many, want 1", len(k.missing))
	}
}

package chain

import (
	"context"
	"errors"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
)

// A late store reads its records only after another process has moved the oldest records to an archive.
type late struct {
	storetest.Store
	move func()
}

// Records implements audit.Chain.
func (l late) Records(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	l.move()
	return l.Store.Records(ctx, from, yield)
}

// testBeside moves records while another process removes those of the first file. Records that are missing for this
// reason must not be reported as damage.
func testBeside(t *testing.T, c Case) {
	fill(t, c)
	dir := t.TempDir()
	other := func() {
		if _, err := store.MoveRecords(t.Context(), broken{c.Store, "after"}, options(dir)); !errors.Is(err, errBroken) {
			t.Error(err)
		}
	}
	if _, err := store.MoveRecords(t.Context(), late{c.Store, other}, options(dir)); !errors.Is(err, audit.ErrMoved) {
		t.Error(err)
	}
	if report, damage := verify(t, c, nil, dir); damage != "" || report.Records != 31 {
		t.Errorf("%s, %+v", damage, report)
	}
}

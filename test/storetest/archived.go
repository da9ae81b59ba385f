package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// testArchivedMeanwhile reads an archive and its store as one log while more records are moved to the archive.
// Records are moved when the reader is at the first record and in the middle of the store's records. No record may be
// missed or read twice.
func testArchivedMeanwhile(t *testing.T, open Open) {
	s := Handle(t, open, t.TempDir())
	o := store.ArchiveOptions{Dir: t.TempDir(), Before: time.Now().Add(time.Hour), By: "ops", PerFile: 10}
	fill := func() {
		for n := range 45 {
			r := record("w", n)
			if err := s.Append(t.Context(), &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	move := func() {
		if _, err := store.MoveRecords(t.Context(), s, o); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	move()
	for _, at := range []int64{1, 60} {
		fill()
		log, err := store.OpenArchive(s, nil, o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var read []int64
		err = log.Records(t.Context(), audit.First, func(r audit.Record) bool {
			if read = append(read, r.Seq); r.Seq == at {
				move()
				fill()
			}
			return true
		})
		head, herr := s.Head(t.Context())
		if err != nil || herr != nil || int64(len(read)) > head.Seq || len(read) < 90 {
			t.Fatalf("%d records of %d, %v, %v", len(read), head.Seq, err, herr)
		}
		if i := slices.IndexFunc(read, func(seq int64) bool { return seq != int64(slices.Index(read, seq))+1 }); i >= 0 {
			t.Errorf("moved at %d: record %d comes behind %d", at, read[i], read[max(i-1, 0)])
		}
		if report, err := audit.Verify(t.Context(), log); err != nil || !report.Whole() || report.Records != head.Seq {
			t.Errorf("%+v, %v", report, err)
		}
	}
}

package bench_test

import (
	"context"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/app"
)

// recorded is the number of records in the verified log.
const recorded = 1_000_000

// BenchmarkVerify reads a log of 1,000,000 records and verifies that it is intact. The target is 10 s.
func BenchmarkVerify(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			s, err := app.OpenStore(b.Context(), storeOf(b, kind), false)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			fillLog(b, s)
			for b.Loop() {
				report, err := audit.Verify(b.Context(), s)
				if err != nil || !report.Whole() || report.Records != recorded {
					b.Fatal(report, err)
				}
			}
		})
	}
}

// fillLog appends with as many concurrent callers as the store combines into one write.
func fillLog(b *testing.B, log audit.Log) {
	b.Helper()
	const callers = 512
	all := make(chan error, callers)
	for caller := range callers {
		go func() {
			for i := caller; i < recorded; i += callers {
				r := record()
				if err := log.Append(context.Background(), &r); err != nil {
					all <- err
					return
				}
			}
			all <- nil
		}()
	}
	for range callers {
		if err := <-all; err != nil {
			b.Fatal(err)
		}
	}
}

package console_test

import "testing"

// BenchmarkPages serves pages with 10,000 pending changes from a Reviewer in memory, to measure the console itself.
// The package bench measures a whole gateway.
func BenchmarkPages(b *testing.B) {
	w := newWorld(b, many(10_000), nil)
	browser := w.signedIn(b, "rosa")
	for name, path := range map[string]string{"queue": "/console/changes", "change": "/console/changes/" + id(5000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got := browser.get(path); got.status != 200 {
					b.Fatal(got.status)
				}
			}
		})
	}
}

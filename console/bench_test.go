package console_test

import "testing"

// BenchmarkPages serves pages with 10,000 pending changes, over a desk in memory: the cost of the console itself. The
// cost with a whole gateway is measured in bench.
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

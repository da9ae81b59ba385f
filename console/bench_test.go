package console_test

import "testing"

// BenchmarkPages serves pages with 10,000 changes waiting: what the console itself takes, over a desk in memory. What a
// page takes of a whole gateway is in bench.
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

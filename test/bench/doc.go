// Package bench measures the gateway. It contains only tests.
//
// It is not part of any program. scripts/bench runs its benchmarks and writes docs/benchmarks.md. The names of
// benchmarks end with the compared variant. In a group whose first variant is raw or bare, the others are reported as
// a multiple of it. The package doesn't check times. It does check that both sides of a comparison return the same
// bytes.
package bench

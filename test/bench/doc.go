// Package bench measures the gateway. It holds only tests.
//
// It is part of no program. scripts/bench runs its benchmarks and writes docs/benchmarks.md. Names end in the compared
// variant. In a group that begins with raw or bare, the others are reported as a multiple of it. It asserts no times,
// but it does assert that both sides of a comparison return the same bytes.
package bench

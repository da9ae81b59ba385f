// Package bench measures the gateway; it holds tests only.
//
// It stands beside the way and is part of no program. scripts/bench runs its benchmarks and writes docs/benchmarks.md.
// Names end in what is compared: in a group that begins with raw or bare, the others are told as a multiple of it.
// It asserts no times. What it does assert is that both sides of a comparison give the same bytes.
package bench

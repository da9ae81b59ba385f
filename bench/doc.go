// Package bench measures the gateway; it holds tests only.
//
// It stands beside the way and is part of no program. scripts/bench runs its benchmarks and writes docs/benchmarks.md.
// Names end in what is compared: the first of a group (raw, bare, sdk) is what the others are told as a multiple of.
// It asserts no times. What it does assert is that both sides of a comparison give the same bytes.
package bench

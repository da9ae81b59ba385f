// Package largeapis tests what is told and checked of the largest public APIs; it holds tests only.
//
// It stands beside the way. The documents are not in the repository: make soak fetches them (scripts/apis) and says
// where they are in BAILIWICK_APIS; without that the tests are left out.
package largeapis

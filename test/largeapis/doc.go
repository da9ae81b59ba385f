// Package largeapis tests the gateway with the largest public APIs. It holds only tests.
//
// The documents are not in the repository. make soak fetches them (scripts/apis) and sets BAILIWICK_APIS to their
// folder. Without it the tests are skipped.
package largeapis

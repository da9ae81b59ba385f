// Package agent tests that calls are understood as models write them. It holds only tests.
//
// The tests make calls with typical slips, over the demo's tracker and over two other schemas.
package agent

// Package agent holds a proof, and nothing that runs: that what models write is understood.
//
// Its tests make calls as models write them, slips included, over the demo's tracker and over two other schemas.
package agent

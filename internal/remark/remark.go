// Package remark collects the notes that accompany an answer.
//
// A Call carries them from where they arise to where the answer is built. They never change a record.
package remark

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
)

// Remarks are the notes of one call. The zero Remarks are empty. They are not safe for concurrent use.
type Remarks struct {
	notes []string
	empty query.Query
}

// Note adds sentences, except those already present.
func (r *Remarks) Note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(r.notes, n) {
			r.notes = append(r.notes, n)
		}
	}
}

// Notes returns the notes in the order they were added.
func (r *Remarks) Notes() []string { return r.notes }

// Found records q if its result was empty.
func (r *Remarks) Found(q query.Query, nothing bool) {
	if nothing {
		r.empty = q
	}
}

// Empty returns the last query without a result, or with a count of zero; nil for none.
func (r *Remarks) Empty() query.Query { return r.empty }

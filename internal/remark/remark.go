// Package remark keeps what an answer says beside what it holds.
//
// A Call carries it from where something is noticed to where the answer is made. A remark changes no record.
package remark

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
)

// Remarks are the notes of one call. The zero Remarks have none. They are not for several goroutines.
type Remarks struct {
	notes []string
	empty query.Query
}

// Note adds sentences. One that is there already isn't added again.
func (r *Remarks) Note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(r.notes, n) {
			r.notes = append(r.notes, n)
		}
	}
}

// Notes returns what Note was given, in that order.
func (r *Remarks) Notes() []string { return r.notes }

// Found notes whether q was answered with nothing.
func (r *Remarks) Found(q query.Query, nothing bool) {
	if nothing {
		r.empty = q
	}
}

// Empty returns the last query that no record was found for, or that counted none; nil for none.
func (r *Remarks) Empty() query.Query { return r.empty }

package bailiwick

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
)

// Remarks are the notes of one call. The zero value is empty. Remarks are not safe for concurrent use.
type Remarks struct {
	notes []string
	empty query.Query
	last  query.Query
	shown int
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

// Forget drops the notes after the first n, and forgets which queries were answered. It is for queries that the caller
// didn't write.
func (r *Remarks) Forget(n int) { *r = Remarks{notes: r.notes[:min(n, len(r.notes))]} }

// NoteEmpty records q if its result was empty.
func (r *Remarks) NoteEmpty(q query.Query, nothing bool) {
	if nothing {
		r.empty = q
	}
}

// NoteResult records that q was answered with shown records, and that they are the whole answer.
func (r *Remarks) NoteResult(q query.Query, shown int) { r.last, r.shown = q, shown }

// Last returns the last query that was answered with records, and their number, or nil.
func (r *Remarks) Last() (query.Query, int) { return r.last, r.shown }

// Empty returns the last query without a result, or with a count of zero, or nil.
func (r *Remarks) Empty() query.Query { return r.empty }

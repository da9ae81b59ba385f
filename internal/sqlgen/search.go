package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/search"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// searched is the statement as package search writes it: over the view of the plan's class.
type searched struct{ *writer }

func (s searched) Write(parts ...string) { s.write(parts...) }

func (s searched) Quote(name string) string { return s.quote(name) }

func (s searched) Column(name string) string { return s.column(view(-1), name) }

func (sqlite) search(w *writer, of *policy.Search) error {
	search.FTS5(searched{w}, w.plan.View.Class().Space, of)
	return nil
}

func (postgres) search(w *writer, of *policy.Search) error {
	search.PostgreSQL(searched{w}, of)
	return nil
}

func (mysql) search(*writer, *policy.Search) error {
	return unsupported("full-text indexes of MariaDB are not searched")
}

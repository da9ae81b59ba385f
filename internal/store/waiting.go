package store

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// A Waiting describes the pending changes of one source and risk.
type Waiting struct {
	Source, Risk string
	Changes      int
	Oldest       time.Time // when the oldest of them was proposed, or zero if its id doesn't say
}

// Waiting returns the query for the source, the risk, the number and the lowest id of pending changes. An index has
// all of them. SQLite has to be told, because otherwise it reads the rows.
func (d ChangeQueries) Waiting() string {
	from := d.Schema + `change`
	if !d.Numbered {
		from += ` INDEXED BY change_waiting`
	}
	return `SELECT source, risk, count(*), min(id) FROM ` + from + ` WHERE state = 'pending' GROUP BY source, risk`
}

// ProposalTime returns the time in the id of a change, or zero if there is none.
func ProposalTime(id string) time.Time {
	if len(id) < ulid.EncodedSize {
		return time.Time{}
	}
	at, err := ulid.ParseStrict(strings.ToUpper(id[:ulid.EncodedSize]))
	if err != nil {
		return time.Time{}
	}
	return at.Timestamp().UTC()
}

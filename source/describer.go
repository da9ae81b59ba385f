package source

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Place is where to look for descriptions of classes: the absolute path of a project's folder, and one of the
// project's connections and environments, by name. If Environment is "", the reader's default is used.
type Place struct {
	Project, Connection, Environment string
	Objects                          []string // the requested classes, or nil for all
}

// A Describer is a Source of classes without records that can also read descriptions from places other than the one that
// its Describe reads. Look opens the descriptions at a place. Names that could be paths are problem.SecurityBlocked with
// a Fault whose rule is PATH_TRAVERSAL, and a project that the owner didn't allow is one with the rule PATH_NOT_ALLOWED.
// Missing descriptions aren't an error.
type Describer interface {
	Look(context.Context, Place) (*Cache, error)
}

// A Cache is the result of a Describer at a place. Close its Reader, if it isn't nil.
type Cache struct {
	Workspace   string       // the folder that contains it, or "" if none was found
	Reader      ObjectReader // of the connection, or nil if it has no descriptions
	Objects     []string     // the described classes, sorted, not only those of Place.Objects
	Environment string       // of the descriptions, which may differ from the requested one, or "" if there is none
	Connections []string     // those with descriptions
}

// An ObjectReader reads descriptions, one at a time. Object's error is a *problem.Error whose Detail says what is wrong
// with the description. Modified returns the zero time if there is none.
type ObjectReader interface {
	Object(name string) (schema.Class, error)
	Modified(name string) time.Time
	Close() error
}

// A Live is a Source that can describe the current state of one of its classes, which may have changed since Describe.
// If there is no such class, the error is problem.NotFound. The Detail of its errors says why, for people.
type Live interface {
	Class(ctx context.Context, name string) (schema.Class, error)
}

package source

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Place is where descriptions of classes are looked for: the absolute path of a project's folder, and one of the
// project's connections and environments, by name. Environment "" takes the reader's default.
type Place struct {
	Project, Connection, Environment string
	Objects                          []string // the classes that are asked for; nil for all
}

// A Describer is a Source of classes without records which also knows what is described in other places than the one that
// its Describe tells of. Look opens what is kept of a place. Names that could be paths are problem.SecurityBlocked with a
// Fault whose rule is PATH_TRAVERSAL, a project that the owner didn't allow is one with the rule PATH_NOT_ALLOWED, and
// what isn't there is no error.
type Describer interface {
	Look(context.Context, Place) (*Cache, error)
}

// A Cache is what a Describer found in a place. Close its Reader, where there is one.
type Cache struct {
	Workspace   string       // the folder in which it is; "" where none was found
	Reader      ObjectReader // of the connection; nil where nothing is kept of it
	Objects     []string     // the classes that are described, sorted; not of Place.Objects alone
	Environment string       // that of the descriptions, which may be another than was asked for; "" where there is none
	Connections []string     // those of which something is kept
}

// An ObjectReader reads descriptions, each by itself. Object's error is a *problem.Error whose Detail says what is wrong
// with that description; Modified is the zero time where there is none.
type ObjectReader interface {
	Object(name string) (schema.Class, error)
	Modified(name string) time.Time
	Close() error
}

// A Live is a Source that can describe one of its classes as it is now, whatever it was when the source was described.
// That there is none is problem.NotFound. The Detail of its errors says why, for people.
type Live interface {
	Class(ctx context.Context, name string) (schema.Class, error)
}

package source

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Place says where to look for descriptions of classes. It has the absolute path of a project's folder, and the names
// of one of the project's connections and environments. If Environment is "", the reader uses its default.
type Place struct {
	Project, Connection, Environment string
	Objects                          []string // the requested classes, or nil for all
}

// A Describer is a Source of classes without records that can also read descriptions from other places than Describe
// does. Look opens the descriptions at a place. It fails with problem.SecurityBlocked and a Fault. The rule of the
// Fault is PATH_TRAVERSAL for names that could be paths, and PATH_NOT_ALLOWED for a project that the owner didn't
// allow. Missing descriptions aren't an error.
type Describer interface {
	Look(context.Context, Place) (*Cache, error)
}

// A Cache is the result of a Describer at a place. Close its Reader, if it isn't nil.
type Cache struct {
	Workspace   string       // the folder that contains it, or "" if none was found
	Reader      ObjectReader // reads the connection's descriptions, or nil if there are none
	Objects     []string     // the described classes, sorted, not only those of Place.Objects
	Environment string       // the environment of the descriptions, which may differ from the requested one, or "" if there is none
	Connections []string     // the connections with descriptions
}

// An ObjectReader reads descriptions, one at a time. The error of Object is a *problem.Error whose Detail names the
// fault of the description. Modified returns the zero time if there is no description.
type ObjectReader interface {
	Object(name string) (schema.Class, error)
	ModTime(name string) time.Time
	Close() error
}

// A Live is a Source that can describe the current state of one of its classes, which may have changed since Describe.
// If there is no such class, it fails with problem.NotFound. The Detail of its errors has the reason, for people.
type Live interface {
	Class(ctx context.Context, name string) (schema.Class, error)
}

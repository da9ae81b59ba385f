package bailiwick

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Object describes one recordless class of a cache. It contains only what the caller may see.
type Object struct {
	Name    string
	View    *policy.View // nil if the cache has no such class that the caller may see
	Unknown bool         // no cache exists that could have it
	Failed  string       // why the class's description can't be read, or "". If set, the View has no fields
	Near    []string     // without a View: the nearest names that the caller sees
}

// Objects describes where objects were found.
type Objects struct {
	Source      string // the source it was found in, or ""
	Workspace   string // the folder it was found in, or ""
	Cached      bool   // the cache has data of the connection
	Connections []string
	Age         time.Duration // age of the newest description that the caller may see. Negative if there is none
	Total       int           // the number of requested objects, or of all objects
}

// An objectSeer finds objects for a principal, under a policy, in some sources.
type objectSeer struct {
	Policy  *policy.Policy
	Who     identity.Principal
	Sources map[string]source.Source
	Now     func() time.Time
}

// Find finds descriptions in a place and passes them to visit, from index skip on, until visit returns false. It visits
// the requested names once each and in their order, or all objects by name. Each is read when it is visited. Objects
// that the principal may not see appear as missing. Sources are asked in the order of their names. The first source
// that has the connection answers.
func (s objectSeer) Find(ctx context.Context, at source.Place, skip int, visit func(Object) bool) (Objects, error) {
	from, cache, err := s.look(ctx, at)
	if err != nil {
		return Objects{}, err
	}
	out := Objects{Source: from, Workspace: cache.Workspace, Connections: cache.Connections, Age: -1}
	names := unique(at.Objects)
	object := func(name string) Object { return Object{Name: name, Unknown: true} }
	if cache.Reader != nil {
		defer cache.Reader.Close() //nolint:errcheck // it was only read
		seen := s.visibleNames(from, cache.Objects)
		out.Cached, out.Age = true, s.age(cache.Reader, seen)
		if at.Objects == nil {
			names = seen
		}
		object = func(name string) Object { return s.object(from, cache.Reader, name, seen) }
	}
	out.Total = len(names)
	for _, name := range names[min(skip, len(names)):] {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if !visit(object(name)) {
			break
		}
	}
	return out, nil
}

// look asks the sources that keep descriptions. If all of them block the project, it returns their error.
func (s objectSeer) look(ctx context.Context, at source.Place) (from string, best *source.Cache, err error) {
	var there []string
	refused := error(problem.New(problem.Unsupported, "no source keeps descriptions of objects"))
	for _, name := range slices.Sorted(maps.Keys(s.Sources)) {
		d, ok := s.Sources[name].(source.Describer)
		if !ok {
			continue
		}
		found, err := d.Look(ctx, at)
		if err != nil && problem.CodeOf(err) != problem.SecurityBlocked {
			return "", nil, err
		}
		switch {
		case err != nil:
			refused = err
		case found.Reader != nil:
			return name, found, nil
		case best == nil || best.Workspace == "" && found.Workspace != "":
			from, best = name, found
		}
		if found != nil {
			there = append(there, found.Connections...)
		}
	}
	if best == nil {
		return "", nil, refused
	}
	best.Connections = unique(there)
	return from, best, nil
}

// visibleNames returns the names that the caller may see.
func (s objectSeer) visibleNames(from string, names []string) []string {
	quiet := s.Policy.Noting(nil) // listing names must not add classes to the record
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return quiet.Fresh(s.Who, &schema.Class{Source: from, Name: name, Recordless: true}) == nil
	})
}

// age returns how long ago the newest description was written, or -1 if there is none.
func (s objectSeer) age(r source.ObjectReader, names []string) time.Duration {
	var newest time.Time
	for _, name := range names {
		if t := r.ModTime(name); t.After(newest) {
			newest = t
		}
	}
	if newest.IsZero() {
		return -1
	}
	return max(s.Now().Sub(newest), 0)
}

// object reads one description.
func (s objectSeer) object(from string, r source.ObjectReader, name string, seen []string) Object {
	o := Object{Name: name}
	if _, found := slices.BinarySearch(seen, name); !found {
		s.Policy.Fresh(s.Who, &schema.Class{Source: from, Name: name, Recordless: true}) // for the record: it notes the named class
		o.Near = problem.Nearest(name, seen, 3)
		return o
	}
	class, err := r.Object(name)
	if err != nil {
		o.Failed = problem.Of(err).Detail
		class = schema.Class{Source: from, Name: name, Recordless: true}
	}
	o.View = s.Policy.Fresh(s.Who, &class)
	return o
}

// unique returns names without duplicates, in the order of their first occurrence.
func unique(names []string) []string {
	had := make(map[string]bool, len(names))
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		again := had[n]
		had[n] = true
		return again
	})
}

// nameTargets adds the records that the title of filed names, as the caller sees them: the issue of a comment, then the
// project of that issue. Without them the title has only ids, so errors are ignored.
func (c *Call) nameTargets(ctx context.Context, filed *change.Change) {
	seen := review.VisibilityOf(c.policy, c.who, c.gateway.masks)
	for range 2 {
		before := len(filed.Named)
		for _, p := range review.Pointings(filed, seen) {
			class, found, err := c.namedRecords(ctx, Labelled{Class: p.To.Class, Key: p.To.Key, Values: p.Values, Fields: p.Fields})
			if err != nil {
				continue
			}
			for _, v := range p.Values {
				if record, ok := found[v.String()]; ok {
					filed.Named = append(filed.Named, change.Named{From: p.From, Field: p.Field, Key: v.String(), Class: class, Record: record})
				}
			}
		}
		if len(filed.Named) == before {
			return
		}
	}
}

// namedRecords returns the fields of records by the text of their keys, and the full name of their class. It omits
// records that the caller doesn't see.
func (c *Call) namedRecords(ctx context.Context, of Labelled) (class string, found map[string]value.Value, err error) {
	who := c.reading()
	v, err := c.policy.View(who, of.Class, "", of.Raw)
	if err != nil {
		return "", nil, err
	}
	q := of.Query(v)
	if q == nil {
		return "", nil, nil
	}
	rows, err := c.gateway.rows(ctx, c.policy, who, q, 0)
	if err != nil {
		return "", nil, err
	}
	found, err = result.ReadNamed(rows, q)
	return v.Class().FullName(), found, err
}

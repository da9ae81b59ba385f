package metadata

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// The limits of the search for workspaces below a root, and of its warnings.
const (
	maxBelow    = 2     // levels of folders
	maxLooks    = 2_000 // the number of folders that are opened
	maxWarnings = 20
)

// Describe implements source.Source. The classes are the objects in the workspaces below the roots, of all
// connections or the configured one. If several objects have the same name, the first counts, in the order of roots,
// workspaces and connections. An object that can't be read is a class without fields, so that rules can name it.
func (s *Source) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	c := catalogue{source: s, seen: map[string]bool{}}
	if err := c.gather(ctx); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(c.classes, func(a, b schema.Class) int { return strings.Compare(a.Name, b.Name) })
	return c.classes, c.warningList(), nil
}

// Class implements source.Live. It returns the class that Describe would return now, or problem.NotFound.
func (s *Source) Class(ctx context.Context, name string) (schema.Class, error) {
	c := catalogue{source: s, seen: map[string]bool{}, only: name}
	switch err := c.gather(ctx); {
	case err != nil:
		return schema.Class{}, err
	case c.classes == nil:
		return schema.Class{}, problem.New(problem.NotFound, "it isn't cached any more")
	}
	return c.classes[0], c.failed
}

// placed is a workspace with its path.
type placed struct {
	path string
	Workspace
}

// workspaces returns the workspaces below the roots, sorted by path. It also returns the reasons why others can't be
// opened, for operators. Workspaces are never nested.
func (s *Source) workspaces() (out []placed, failed []string) {
	looks := 0
	var look func(path string, at *folder, below int)
	look = func(path string, at *folder, below int) {
		names := folders(at)
		for _, name := range names {
			if looks++; below == 0 || looks > maxLooks {
				break
			}
			next, err := at.Folder(name)
			if err != nil {
				failed = addOpenWarning(failed, filepath.Join(path, name), err)
				continue
			}
			look(filepath.Join(path, name), next, below-1)
		}
		known := slices.ContainsFunc(out, func(p placed) bool { return p.path == path })
		if known {
			at.Close() //nolint:errcheck // it was only read
			return
		}
		ws, err := s.options.Reader.Open(at)
		if err != nil {
			failed = addOpenWarning(failed, path, err)
			return
		}
		out = append(out, placed{path, ws})
	}
	s.roots.Each(func(path string, at *folder) { look(path, at, maxBelow) })
	slices.SortFunc(out, func(a, b placed) int { return strings.Compare(a.path, b.path) })
	return out, failed
}

// addOpenWarning adds a warning that something at path can't be opened. It adds none for a missing file.
func addOpenWarning(warnings []string, path string, err error) []string {
	if errors.Is(err, fs.ErrNotExist) {
		return warnings
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return append(warnings, fmt.Sprintf("%s can't be opened: %v", path, err))
}

// A catalogue collects classes.
type catalogue struct {
	source      *Source
	classes     []schema.Class
	seen        map[string]bool
	only        string // the only object to collect, or "" for all
	failed      error  // the reason why the last class can't be read, or nil
	connections []string
	warnings    []string
}

// gather collects the classes of all workspaces in order.
func (c *catalogue) gather(ctx context.Context) error {
	all, failed := c.source.workspaces()
	for _, why := range failed {
		c.warnings = append(c.warnings, c.source.options.Name+": "+why)
	}
	for _, found := range all {
		err := ctx.Err()
		if err == nil {
			err = c.workspace(ctx, found)
		}
		found.Close() //nolint:errcheck // it was only read
		if err != nil {
			return err
		}
	}
	return nil
}

// workspace adds the objects of each connection of ws. It skips connections without a description in this
// environment.
func (c *catalogue) workspace(ctx context.Context, ws placed) error {
	for _, connection := range c.source.connections(ws) {
		found, err := ws.Open(connection, c.source.options.Environment)
		if err != nil {
			c.warnings = addOpenWarning(c.warnings, fmt.Sprintf("%s: %s: the connection %s", c.source.options.Name, ws.path, connection), err)
			continue
		}
		if !slices.Contains(c.connections, connection) {
			c.connections = append(c.connections, connection)
		}
		err = c.objects(ctx, connection, &reader{c.source, found})
		found.Folder.Close() //nolint:errcheck // it was only read
		if err != nil {
			return err
		}
	}
	return nil
}

// objects adds the objects of one connection that no earlier connection describes. An object that can't be read
// becomes a class without fields, with a warning.
func (c *catalogue) objects(ctx context.Context, connection string, r *reader) error {
	about := "Described by the connection " + connection
	if env := r.objects.Environment; env != "" {
		about += ", environment " + env
	}
	for _, name := range c.source.visibleNames(r.objects) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.seen[name] || c.only != "" && c.only != name {
			continue
		}
		class, err := r.Object(name)
		if c.failed = err; err != nil {
			c.warnings = append(c.warnings, fmt.Sprintf("%s: %s", class.FullName(), problem.Of(err).Detail))
		}
		class.Description = about
		c.seen[name], c.classes = true, append(c.classes, class)
	}
	return nil
}

// warningList returns the warnings, limited to maxWarnings.
func (c *catalogue) warningList() []string {
	name, warnings := c.source.options.Name, c.warnings
	if more := len(warnings) - maxWarnings; more > 0 {
		warnings = append(warnings[:maxWarnings:maxWarnings], fmt.Sprintf("%s: %d more objects can't be read", name, more))
	}
	switch {
	case len(c.connections) == 0:
		warnings = append(warnings, name+": nothing is cached in its roots yet. org_describe looks again at each call")
	case len(c.connections) > 1:
		warnings = append(warnings, fmt.Sprintf("%s: its roots have the connections %s. Of objects with one name the first is the class: name one in sources.%s.metadata.connection",
			name, strings.Join(c.connections, ", "), name))
	}
	return warnings
}

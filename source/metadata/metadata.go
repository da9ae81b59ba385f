// Package metadata is the adapter for what development environments keep on disk of an organisation's objects: names,
// types and rules of fields, and no record.
//
// It is a source whose classes can be described and not read. What it opens lies below the roots that its owner allowed
// (package confined); names that agents give are looked for in what a folder lists and never made part of a path. How one
// environment lays its files out is a Reader: Provar's is here. A file that can't be read is told of with its object, and
// takes nothing else along. Without roots it refuses to be.
package metadata

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/safefs"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// Options say what a Source may open and what it tells of.
type Options struct {
	Name        string                   // the source's name in the configuration
	Roots       []string                 // the folders below which anything may be opened; at least one
	Connection  string                   // the only connection that is told of; "" for all
	Environment string                   // whose descriptions become classes; "" takes DefaultEnvironment
	Home        string                   // where the environment keeps workspaces besides; "" takes the user's home
	Reader      Reader                   // nil takes Provar
	Allows      func(object string) bool // which objects are told of; nil for all
}

// DefaultEnvironment is what is read where no environment is named, or nothing is kept of the one that is.
const DefaultEnvironment = "default"

// A Reader knows where one development environment keeps descriptions.
type Reader interface {
	// Workspaces returns the folders that may hold those of a project, absolute, in the order in which they count.
	Workspaces(project, home string) []string
	// Open looks at a folder and takes it over: fs.ErrNotExist where it is no workspace.
	Open(*safefs.Folder) (Workspace, error)
}

// A Workspace is a folder with descriptions of the objects of some connections. Close it.
type Workspace interface {
	Connections() []string
	// Open opens what is kept of a connection, if it can be of an environment: fs.ErrNotExist where nothing is.
	Open(connection, environment string) (*Objects, error)
	Close() error
}

// Objects are the descriptions of one connection and environment: each is a file of one folder.
type Objects struct {
	Folder      *safefs.Folder
	Files       map[string]string // by object
	Environment string            // "" where descriptions are of none
	Fields      func(file string, data []byte) ([]schema.Field, error)
}

// A Source is descriptions on disk. It keeps nothing open.
type Source struct {
	options Options
	roots   safefs.Roots
}

// New returns a source. It refuses roots that aren't there.
func New(o Options) (*Source, error) {
	if len(o.Roots) == 0 {
		return nil, fmt.Errorf("source %s: a metadata source needs roots: the folders that it may read", o.Name)
	}
	roots, err := safefs.New(o.Roots)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", o.Name, err)
	}
	if o.Reader == nil {
		o.Reader = Provar{}
	}
	if o.Environment == "" {
		o.Environment = DefaultEnvironment
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one, that place is not looked into
	}
	return &Source{o, roots}, nil
}

// Read implements source.Source: there are no records.
func (s *Source) Read(context.Context, policy.Permit) (source.Rows, error) {
	return nil, problem.New(problem.Unsupported, "the class is a description without records")
}

// Close implements io.Closer.
func (s *Source) Close() error { return nil }

// Look implements source.Describer.
func (s *Source) Look(ctx context.Context, at source.Place) (*source.Cache, error) {
	if at.Environment == "" {
		at.Environment = s.options.Environment
	}
	if err := s.check(at); err != nil {
		return nil, err
	}
	for _, path := range s.options.Reader.Workspaces(filepath.Clean(at.Project), s.options.Home) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ws := s.workspace(path)
		if ws == nil {
			continue
		}
		defer ws.Close() //nolint:errcheck // it was only read
		cache := &source.Cache{Workspace: path, Connections: s.connections(ws)}
		if !slices.Contains(cache.Connections, at.Connection) {
			return cache, nil
		}
		found, err := ws.Open(at.Connection, at.Environment)
		if err != nil {
			return cache, nil // it went between the two looks, or can't be opened
		}
		cache.Environment, cache.Reader, cache.Objects = found.Environment, &reader{s, found}, s.told(found)
		return cache, nil
	}
	return &source.Cache{}, nil
}

// workspace opens the workspace at path; nil where there is none that may be opened. Why is nobody's business.
func (s *Source) workspace(path string) Workspace {
	if !s.roots.Allows(path) {
		return nil
	}
	folder, err := s.roots.Open(path)
	if err != nil {
		return nil
	}
	ws, err := s.options.Reader.Open(folder)
	if err != nil {
		return nil
	}
	return ws
}

func (s *Source) connections(ws Workspace) []string {
	all := ws.Connections()
	if only := s.options.Connection; only != "" {
		all = slices.DeleteFunc(all, func(c string) bool { return c != only })
	}
	return all
}

// told are the objects that may be told of, sorted.
func (s *Source) told(found *Objects) []string {
	out := make([]string, 0, len(found.Files))
	for name := range found.Files {
		if s.options.Allows == nil || s.options.Allows(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// check refuses what could be a path where a name belongs, and a project that isn't below a root, before anything is
// touched.
func (s *Source) check(at source.Place) error {
	names := [][2]string{{"/connection_name", at.Connection}, {"/environment", at.Environment}}
	for i, o := range at.Objects {
		names = append(names, [2]string{fmt.Sprintf("/objects/%d", i), o})
	}
	for _, n := range names {
		if !safefs.Single(n[1]) {
			return refused("PATH_TRAVERSAL", n[0], "a name of one thing belongs here: not empty, no separators, no \"..\", no drive")
		}
	}
	segments := strings.FieldsFunc(at.Project, func(r rune) bool { return r == '/' || r == '\\' })
	switch {
	case at.Project == "", at.Project == ".", strings.ContainsRune(at.Project, 0), slices.Contains(segments, ".."):
		return refused("PATH_TRAVERSAL", "/project_path", "the absolute path of a folder belongs here, without \"..\"")
	case !s.roots.Allows(at.Project):
		return refused("PATH_NOT_ALLOWED", "/project_path", "the project is not in a folder that the owner allowed")
	}
	return nil
}

// refused is the refusal of a path or a name, for what rule.
func refused(rule, at, message string) error {
	return &problem.Error{Code: problem.SecurityBlocked, Kind: strings.ToLower(rule), Pointer: at, Detail: rule + ": " + at[1:] + ": " + message,
		Faults: []problem.Fault{{Pointer: at, Rule: rule, Message: message}}}
}

// Package metadata is the source for descriptions of an organisation's objects that development environments cache on
// disk.
//
//	place ─Look→ source.Cache ─name→ folders below the allowed roots ─Reader→ schema.Class
//
// A description contains the names, types and rules of fields, but no records. Classes of this source can be
// described but not read. A Reader implements the layout of one environment, and Provar is the included one. Names
// from agents are looked up in folder listings and never become part of a path. An unreadable file causes a warning
// for its object only.
//
// All file access goes through os.Root, below the roots that the owner allowed. At least one root is required. A path
// outside of the roots is not looked up, and symbolic links are not followed. Files must be regular and of limited
// size. Names are opened one at a time, so replacing a file between check and open can't give access to files outside
// of the roots.
//
// The parsers open no files. They read the describe as JSON, the XML of the Provar IDE (sfObject), and the metadata
// API's CustomObject and toolingObjectInfo. They reject incomplete documents, entities, document types and nesting
// deeper than 64. Their errors contain no path, and quote only names of the format.
package metadata

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// Options configure a Source.
type Options struct {
	Name        string                   // the source's name in the configuration
	Roots       []string                 // the folders below which files may be opened. At least one is required
	Connection  string                   // the only connection to use, or "" for all connections
	Environment string                   // "" means DefaultEnvironment
	Home        string                   // contains further workspaces. "" means the user's home folder
	Reader      Reader                   // nil means Provar
	Allows      func(object string) bool // reports whether an object is visible. Nil allows all objects
}

// DefaultEnvironment is used if no environment is named, or if the named one has no descriptions.
const DefaultEnvironment = "default"

// A Reader implements the file layout of one development environment.
type Reader interface {
	// Workspaces returns the folders that may contain the descriptions of a project, as absolute paths in order of
	// precedence.
	Workspaces(project, home string) []string
	// Open opens a workspace and takes ownership of the folder. It returns fs.ErrNotExist if the folder is not
	// a workspace.
	Open(*folder) (Workspace, error)
}

// A Workspace is a folder with descriptions of the objects of some connections. It must be closed.
type Workspace interface {
	Connections() []string
	// Open opens the descriptions of a connection, preferably of that environment. It returns fs.ErrNotExist if there
	// are none.
	Open(connection, environment string) (*Objects, error)
	Close() error
}

// Objects contains the descriptions of one connection and environment, each in a file of the same folder.
type Objects struct {
	Folder      *folder
	Files       map[string]string // file name by object
	Environment string            // "" if the layout has no environments
	Fields      func(file string, data []byte) ([]schema.Field, error)
}

// A Source serves descriptions on disk. It keeps no files open.
type Source struct {
	options Options
	roots   roots
}

// New returns a source. It returns an error if a root is missing.
func New(o Options) (*Source, error) {
	if len(o.Roots) == 0 {
		return nil, fmt.Errorf("source %s: a metadata source needs roots: the folders that it may read", o.Name)
	}
	roots, err := newRoots(o.Roots)
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
		o.Home, _ = os.UserHomeDir() // the home folder is optional
	}
	return &Source{o, roots}, nil
}

// Read implements source.Source. It always fails, because there are no records.
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
			return cache, nil // it was removed in the meantime, or is unreadable
		}
		cache.Environment, cache.Reader, cache.Objects = found.Environment, &reader{s, found}, s.visibleNames(found)
		return cache, nil
	}
	return &source.Cache{}, nil
}

// workspace opens the workspace at path, or nil if it doesn't exist or is not allowed. The reason is not disclosed.
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

// visibleNames returns the names of the visible objects, sorted.
func (s *Source) visibleNames(found *Objects) []string {
	out := make([]string, 0, len(found.Files))
	for name := range found.Files {
		if s.options.Allows == nil || s.options.Allows(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// check rejects names that could be a path, and a project that is not below a root. It accesses no file.
func (s *Source) check(at source.Place) error {
	names := [][2]string{{"/connection_name", at.Connection}, {"/environment", at.Environment}}
	for i, o := range at.Objects {
		names = append(names, [2]string{fmt.Sprintf("/objects/%d", i), o})
	}
	for _, n := range names {
		if !single(n[1]) {
			return violationError("PATH_TRAVERSAL", n[0], "a name of one thing belongs here: not empty, no separators, no \"..\", no drive")
		}
	}
	segments := strings.FieldsFunc(at.Project, func(r rune) bool { return r == '/' || r == '\\' })
	switch {
	case at.Project == "", at.Project == ".", strings.ContainsRune(at.Project, 0), slices.Contains(segments, ".."):
		return violationError("PATH_TRAVERSAL", "/project_path", "the absolute path of a folder belongs here, without \"..\"")
	case !s.roots.Allows(at.Project):
		return violationError("PATH_NOT_ALLOWED", "/project_path", "the project is not in a folder that the owner allowed")
	}
	return nil
}

// violationError returns the error for a path or name that violates a rule.
func violationError(rule, at, message string) error {
	return &problem.Error{Code: problem.SecurityBlocked, Kind: strings.ToLower(rule), Pointer: at, Detail: rule + ": " + at[1:] + ": " + message,
		Faults: []problem.Fault{{Pointer: at, Rule: rule, Message: message}}}
}

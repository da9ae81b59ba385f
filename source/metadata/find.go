package metadata

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A Connection is a connection whose objects are cached in a folder's workspaces.
type Connection struct {
	Name        string
	Environment string // the environment of the counted objects, or "" if there is none
	Objects     int
}

// Find searches for cached metadata on behalf of the owner: in the workspaces of the project in folder, or below
// folder. It returns the roots that a source needs, and the connections found. It reads outside the configured roots,
// so it must never be called for an agent.
func Find(folder string) (roots []string, connections []Connection, err error) {
	project, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("look into %s: %w", folder, err)
	}
	home, _ := os.UserHomeDir() // the home folder is optional
	roots = []string{project}
	for i, path := range (Provar{}).Workspaces(project, home) {
		if info, err := os.Lstat(filepath.Join(path, metadataFolder)); err == nil && info.IsDir() {
			if roots = append(roots, path); i == 0 {
				roots = []string{path} // the project's parent, which contains the project
			}
			break
		}
	}
	s, err := New(Options{Name: "org", Roots: roots})
	if err != nil {
		return nil, nil, err
	}
	all, _ := s.workspaces() // a workspace that can't be opened isn't proposed
	for _, ws := range all {
		for _, name := range s.connections(ws) {
			known := slices.ContainsFunc(connections, func(c Connection) bool { return c.Name == name })
			if found, err := ws.Open(name, DefaultEnvironment); err == nil {
				if !known {
					connections = append(connections, Connection{name, found.Environment, len(found.Files)})
				}
				found.Folder.Close() //nolint:errcheck // it was only read
			}
		}
		ws.Close() //nolint:errcheck // it was only read
	}
	if connections == nil {
		return nil, nil, fmt.Errorf("%s has no cached metadata, and no workspace beside it: open the project in the Provar IDE and load a connection first", folder)
	}
	return roots, connections, nil
}

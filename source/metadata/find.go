package metadata

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A Connection is one whose objects are cached in a folder's workspaces.
type Connection struct {
	Name        string
	Environment string // whose objects were counted; "" where there is none
	Objects     int
}

// Find looks, for an owner, where what belongs to a folder is cached: in the workspaces of the project that it is, or in
// those below it. It returns the folders that a source of it needs as roots, and what is there. It looks where nobody has
// allowed to look yet, so it is never called for an agent.
func Find(folder string) (roots []string, connections []Connection, err error) {
	project, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("look into %s: %w", folder, err)
	}
	home, _ := os.UserHomeDir() // without one, that place is not looked into
	roots = []string{project}
	for i, path := range (Provar{}).Workspaces(project, home) {
		if info, err := os.Lstat(filepath.Join(path, metadataFolder)); err == nil && info.IsDir() {
			if roots = append(roots, path); i == 0 {
				roots = []string{path} // the project's parent, which the project is in
			}
			break
		}
	}
	s, err := New(Options{Name: "org", Roots: roots})
	if err != nil {
		return nil, nil, err
	}
	for _, ws := range s.workspaces() {
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

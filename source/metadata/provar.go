package metadata

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// Provar reads the metadata that the Provar IDE caches for Salesforce connections, in two layouts below a workspace's
// .metadata folder:
//
//	.plugins/com.provar.eclipse.ui/<connection>/<environment>/SfObject/<Object>.xml
//	<connection>/<Object>.json, .xml or .object
//
// If a connection has the first layout, the second is ignored. Environments are tried in this order: the requested one,
// default, then by name.
type Provar struct{}

const (
	metadataFolder = ".metadata"
	pluginFolder   = "com.provar.eclipse.ui"
	objectFolder   = "SfObject"
)

// endings are the file endings of the second layout, in order of precedence.
var endings = [...]string{".json", ".xml", ".object"}

// Workspaces implements Reader. It returns the project's parent, and then folders called workspace-<name>. They are
// next to the project, in Provar_Workspaces next to the project, and in Provar in the home folder. <name> is the name
// of the project, both unchanged and in the form of older versions of the IDE.
func (Provar) Workspaces(project, home string) []string {
	parent, name := filepath.Dir(project), filepath.Base(project)
	names := []string{"workspace-" + name}
	if old := "workspace-" + strings.ToLower(strings.Join(strings.Fields(name), "-")); old != names[0] {
		names = append(names, old)
	}
	out := []string{parent}
	places := []string{parent, filepath.Join(parent, "Provar_Workspaces")}
	if home != "" {
		places = append(places, filepath.Join(home, "Provar"))
	}
	for _, place := range places {
		for _, n := range names {
			out = append(out, filepath.Join(place, n))
		}
	}
	return out
}

// Open implements Reader.
func (Provar) Open(f *folder) (Workspace, error) {
	at, err := f.Down(metadataFolder)
	if err != nil {
		return nil, err
	}
	return &provarWorkspace{at}, nil
}

// A provarWorkspace is the folder .metadata.
type provarWorkspace struct{ at *folder }

func (w *provarWorkspace) Close() error { return w.at.Close() }

// Connections implements Workspace. The names are sorted and unique.
func (w *provarWorkspace) Connections() []string {
	var out []string
	if plugin, err := w.plugin(); err == nil {
		for _, c := range folders(plugin) {
			if o, err := environment(plugin, c, ""); err == nil {
				o.Folder.Close() //nolint:errcheck // it was only read
				out = append(out, c)
			}
		}
		plugin.Close() //nolint:errcheck // it was only read
	}
	for _, c := range folders(w.at) {
		if slices.Contains(out, c) {
			continue
		}
		if o, err := w.second(c); err == nil {
			o.Folder.Close() //nolint:errcheck // it was only read
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return out
}

// Open implements Workspace.
func (w *provarWorkspace) Open(connection, env string) (*Objects, error) {
	if plugin, err := w.plugin(); err == nil {
		defer plugin.Close() //nolint:errcheck // it was only read
		if o, err := environment(plugin, connection, env); err == nil {
			return o, nil
		}
	}
	return w.second(connection)
}

func (w *provarWorkspace) plugin() (*folder, error) {
	plugins, err := w.at.Folder(".plugins")
	if err != nil {
		return nil, err
	}
	return plugins.Down(pluginFolder)
}

// folders lists the folders in f that can be connections or environments. It omits names that begin with a dot, which
// belong to the IDE.
func folders(f *folder) []string {
	all, _ := f.Folders() // a folder that can't be listed counts as empty
	return slices.DeleteFunc(all, func(n string) bool { return !isValidName(n) })
}

// isValidName reports whether name is a valid name of an object, a connection or an environment.
func isValidName(name string) bool {
	return name != "" && name[0] != '.' && single(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// environment opens a connection in the first layout.
func environment(plugin *folder, connection, asked string) (*Objects, error) {
	if !slices.Contains(folders(plugin), connection) {
		return nil, fs.ErrNotExist
	}
	at, err := plugin.Folder(connection)
	if err != nil {
		return nil, err
	}
	defer at.Close() //nolint:errcheck // it was only read
	all := folders(at)
	slices.SortStableFunc(all, func(a, b string) int { return rank(a, asked) - rank(b, asked) })
	for _, env := range all {
		folder, err := at.Folder(env)
		if err != nil {
			continue
		}
		if folder, err = folder.Down(objectFolder); err == nil {
			return newObjects(folder, env, ".xml")
		}
	}
	return nil, fs.ErrNotExist
}

// rank returns the precedence of an environment. The lowest rank comes first.
func rank(env, asked string) int {
	switch env {
	case asked:
		return 0
	case DefaultEnvironment:
		return 1
	}
	return 2
}

// second opens a connection in the second layout: a folder with files of objects.
func (w *provarWorkspace) second(connection string) (*Objects, error) {
	if !slices.Contains(folders(w.at), connection) {
		return nil, fs.ErrNotExist
	}
	at, err := w.at.Folder(connection)
	if err != nil {
		return nil, err
	}
	o, err := newObjects(at, "", endings[:]...)
	if err == nil && len(o.Files) == 0 {
		at.Close() //nolint:errcheck // it was only read
		return nil, fs.ErrNotExist
	}
	return o, err
}

// newObjects returns the objects of a folder, and takes ownership of the folder. If an object has several files, the
// file with the first of endings counts.
func newObjects(at *folder, env string, endings ...string) (*Objects, error) {
	names, err := at.Names()
	if err != nil {
		at.Close() //nolint:errcheck // it was only read
		return nil, err
	}
	o := &Objects{Folder: at, Files: map[string]string{}, Environment: env, Fields: func(file string, data []byte) ([]schema.Field, error) {
		return readSalesforce(filepath.Ext(file), data)
	}}
	for _, ending := range endings {
		for _, file := range names {
			object, ok := strings.CutSuffix(file, ending)
			if _, before := o.Files[object]; ok && !before && isValidName(object) {
				o.Files[object] = file
			}
		}
	}
	return o, nil
}

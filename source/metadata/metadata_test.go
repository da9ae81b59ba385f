package metadata

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
)

const (
	plugin = ".metadata/.plugins/com.provar.eclipse.ui/"
	stub   = `<sfObject n="X" detailsLoaded="false"/>`
)

// object returns an SfObject with one required field called field.
func object(field string) string {
	return `<sfObject n="X"><fields><sfField n="` + field + `" type="string" required="true"/></fields></sfObject>`
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plantFiles writes files below dir by slash-separated path. A text that begins with "-> " creates a symbolic link.
func plantFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		path = filepath.Join(dir, path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			must(t, os.Symlink(to, path))
			continue
		}
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func open(t testing.TB, o Options) *Source {
	t.Helper()
	o.Name = "org"
	s, err := New(o)
	must(t, err)
	return s
}

// look formats the result of Look: the workspace below dir, the environment, and "object: fields" for each object.
func look(t testing.TB, s *Source, dir string, at source.Place) string {
	t.Helper()
	found, err := s.Look(t.Context(), at)
	if err != nil {
		p := problem.Of(err)
		return fmt.Sprintf("%s %s %s", p.Code, p.Pointer, p.Faults[0].Rule)
	}
	if found.Workspace == "" {
		return "no workspace"
	}
	where := "in " + strings.TrimPrefix(strings.TrimPrefix(found.Workspace, dir), "/")
	if found.Reader == nil {
		return where + ": connections " + fmt.Sprint(found.Connections)
	}
	defer found.Reader.Close()
	if found.Environment != "" {
		where += " env " + found.Environment
	}
	for _, name := range found.Objects {
		class, err := found.Reader.Object(name)
		fields := []string{}
		for _, f := range class.Fields {
			fields = append(fields, f.Name)
		}
		where += "; " + name + " " + strings.Join(fields, ",")
		if err != nil {
			where += "! " + problem.Of(err).Detail
		}
		if class.Name != name || class.FullName() != "org."+name || !class.Recordless {
			t.Errorf("%s is %s", name, class.FullName())
		}
	}
	return where
}

// TestLayouts checks the result for each tree and place. The root is <dir>/w, and the home folder is <dir>/w/home.
func TestLayouts(t *testing.T) {
	ide := func(ws, connection, env, name string) string {
		return ws + "/" + plugin + connection + "/" + env + "/SfObject/" + name + ".xml"
	}
	for _, c := range []struct {
		name    string
		files   map[string]string
		project string // below dir, or "" for w/Proj
		at      source.Place
		want    string
	}{
		{"the project's parent", map[string]string{ide("w", "MyOrg", "default", "Account"): object("Name")}, "", source.Place{}, "in w env default; Account Name"},
		{"beside the project", map[string]string{ide("w/workspace-Proj", "MyOrg", "default", "Account"): object("Name")}, "", source.Place{}, "in w/workspace-Proj env default; Account Name"},
		{"in Provar_Workspaces", map[string]string{ide("w/Provar_Workspaces/workspace-Proj", "MyOrg", "default", "A"): object("N")}, "", source.Place{}, "in w/Provar_Workspaces/workspace-Proj env default; A N"},
		{"at home", map[string]string{ide("w/home/Provar/workspace-Proj", "MyOrg", "default", "A"): object("N")}, "", source.Place{}, "in w/home/Provar/workspace-Proj env default; A N"},
		{"lower case with dashes", map[string]string{ide("w/workspace-my-big-project", "MyOrg", "default", "A"): object("N")}, "w/ My  Big Project", source.Place{}, "in w/workspace-my-big-project env default; A N"},
		{"the name as it is comes first", map[string]string{ide("w/workspace-my-p", "MyOrg", "default", "A"): object("Old"), ide("w/workspace-My P", "MyOrg", "default", "A"): object("N")},
			"w/My P", source.Place{}, "in w/workspace-My P env default; A N"},
		{"the parent comes first", map[string]string{ide("w", "MyOrg", "default", "A"): object("N"), ide("w/workspace-Proj", "MyOrg", "default", "A"): object("Beside")}, "", source.Place{}, "in w env default; A N"},
		{"the first workspace counts, without the connection too", map[string]string{"w/.metadata/version.ini": "1", ide("w/workspace-Proj", "MyOrg", "default", "A"): object("Beside")}, "", source.Place{}, "in w: connections []"},
		{"a folder without .metadata is none", map[string]string{"w/workspace-Proj/readme": "", ide("w/Provar_Workspaces/workspace-Proj", "MyOrg", "default", "A"): object("N")}, "", source.Place{}, "in w/Provar_Workspaces/workspace-Proj env default; A N"},
		{".metadata is a file", map[string]string{"w/.metadata": "", ide("w/workspace-Proj", "MyOrg", "default", "A"): object("N")}, "", source.Place{}, "in w/workspace-Proj env default; A N"},
		{"nothing", nil, "", source.Place{}, "no workspace"},
		{"the parent is outside", map[string]string{ide("", "MyOrg", "default", "A"): object("N"), ide("workspace-w", "MyOrg", "default", "A"): object("N")}, "w", source.Place{}, "no workspace"},
		{"the project is outside", map[string]string{ide("v", "MyOrg", "default", "A"): object("N")}, "v/Proj", source.Place{}, "security_blocked /project_path PATH_NOT_ALLOWED"},
		{"a folder whose name begins as the root's", map[string]string{ide("wide", "MyOrg", "default", "A"): object("N")}, "wide/Proj", source.Place{}, "security_blocked /project_path PATH_NOT_ALLOWED"},

		{"the environment asked for", map[string]string{ide("w", "MyOrg", "default", "A"): object("N"), ide("w", "MyOrg", "UAT", "A"): object("U")}, "", source.Place{Environment: "UAT"}, "in w env UAT; A U"},
		{"else the default", map[string]string{ide("w", "MyOrg", "default", "A"): object("N"), ide("w", "MyOrg", "Alpha", "A"): object("U")}, "", source.Place{Environment: "UAT"}, "in w env default; A N"},
		{"else the first by name", map[string]string{ide("w", "MyOrg", "Zeta", "A"): object("Z"), ide("w", "MyOrg", "Alpha", "A"): object("U")}, "", source.Place{Environment: "UAT"}, "in w env Alpha; A U"},
		{"an environment without objects' folder", map[string]string{"w/" + plugin + "MyOrg/UAT/other/A.xml": object("N"), ide("w", "MyOrg", "default", "A"): object("N")}, "", source.Place{Environment: "UAT"}, "in w env default; A N"},
		{"other files of the IDE", map[string]string{ide("w", "MyOrg", "default", "A"): object("N"), "w/" + plugin + "MyOrg/default/SfObject/A.json": "{}", "w/" + plugin + "MyOrg/default/SfObject/.lock": "",
			"w/" + plugin + "MyOrg/default/SfObject/.xml": "", "w/" + plugin + "MyOrg/default/other.xml": ""}, "", source.Place{}, "in w env default; A N"},

		{"the second layout", map[string]string{"w/.metadata/MyOrg/A.json": `{"fields": [{"name": "J"}]}`, "w/.metadata/MyOrg/B.xml": object("X"),
			"w/.metadata/MyOrg/C.object": `<CustomObject><fields><fullName>O</fullName></fields></CustomObject>`}, "", source.Place{}, "in w; A J; B X; C O"},
		{"json counts before xml, and xml before object", map[string]string{"w/.metadata/MyOrg/A.json": `{"fields": [{"name": "J"}]}`, "w/.metadata/MyOrg/A.xml": object("X"),
			"w/.metadata/MyOrg/A.object": object("O"), "w/.metadata/MyOrg/B.xml": object("X"), "w/.metadata/MyOrg/B.object": object("O")}, "", source.Place{}, "in w; A J; B X"},
		{"the first layout counts before the second", map[string]string{ide("w", "MyOrg", "default", "A"): object("N"), "w/.metadata/MyOrg/B.json": "{}"}, "", source.Place{}, "in w env default; A N"},
		{"each connection by itself", map[string]string{ide("w", "MyOrg", "default", "A"): object("N"), "w/.metadata/Other/B.json": "{}"}, "", source.Place{Connection: "Other"}, "in w; B "},
		{"a folder of no objects", map[string]string{"w/.metadata/MyOrg/readme.txt": "", ide("w", "Other", "default", "A"): object("N")}, "", source.Place{}, "in w: connections [Other]"},

		{"one bad file", map[string]string{ide("w", "MyOrg", "default", "A"): object("N"), ide("w", "MyOrg", "default", "B"): "<sfObject><fields>", ide("w", "MyOrg", "default", "C"): stub, ide("w", "MyOrg", "default", "D"): ""},
			"", source.Place{}, "in w env default; A N; B ! the file is not well-formed XML, at line 1; C ; D ! the file is empty"},
		{"fields that are no list", map[string]string{"w/.metadata/MyOrg/A.json": `{"fields": [{"name": "J"}]}`, "w/.metadata/MyOrg/Bad.json": `{"fields": {}}`}, "", source.Place{}, "in w; A J; Bad ! fields is not a list"},
		{"a huge file", map[string]string{"w/.metadata/MyOrg/A.json": strings.Repeat(" ", 8<<20+1)}, "", source.Place{}, "in w; A ! the file is not read: it is larger than 8 MiB"},

		{"a link to a file outside", map[string]string{"out/secret.json": `{"fields": [{"name": "Secret"}]}`, "w/.metadata/MyOrg/Link.json": "-> ../../../out/secret.json"}, "", source.Place{}, "in w; Link ! the file is not read: it is not a regular file"},
		{"a link to a file within", map[string]string{"w/.metadata/MyOrg/A.json": `{"fields": [{"name": "J"}]}`, "w/.metadata/MyOrg/Link.json": "-> A.json"}, "", source.Place{}, "in w; A J; Link ! the file is not read: it is not a regular file"},
		{"a link for a connection", map[string]string{"out/MyOrg/A.json": `{}`, "w/.metadata/MyOrg": "-> ../../out/MyOrg", "w/.metadata/Real/A.json": "{}"}, "", source.Place{}, "in w: connections [Real]"},
		{"a link for an environment", map[string]string{"out/SfObject/A.xml": object("Secret"), "w/" + plugin + "MyOrg/default": "-> ../../../../../../out", ide("w", "MyOrg", "real", "A"): object("N")}, "", source.Place{}, "in w env real; A N"},
		{"a link for .metadata", map[string]string{"out/MyOrg/A.json": `{}`, "w/.metadata": "-> ../out"}, "", source.Place{}, "no workspace"},
		{"a link for a workspace", map[string]string{"out/.metadata/MyOrg/A.json": `{}`, "w/workspace-Proj": "-> ../out"}, "", source.Place{}, "no workspace"},
		{"a link on the way", map[string]string{"w/real/.metadata/MyOrg/A.json": `{}`, "w/link": "-> real"}, "w/link/Proj", source.Place{}, "no workspace"},
		{"a folder called as an object", map[string]string{"w/.metadata/MyOrg/A.json/x": "", "w/.metadata/MyOrg/B.json": "{}"}, "", source.Place{}, "in w; A ! the file is not read: it is not a regular file; B "},

		{"case counts", map[string]string{"w/.metadata/MyOrg/A.json": `{}`}, "", source.Place{Connection: "myorg"}, "in w: connections [MyOrg]"},
		{"forms of a letter differ", map[string]string{"w/.metadata/\u00e9/A.json": `{}`}, "", source.Place{Connection: "e\u0301"}, "in w: connections [\u00e9]"},
		{"a form that is there", map[string]string{"w/.metadata/e\u0301/A.json": `{}`}, "", source.Place{Connection: "e\u0301"}, "in w; A "},
		{"a dot before", map[string]string{"w/.metadata/.plugins/A.json": `{}`, "w/.metadata/MyOrg/.hidden.json": "{}", "w/.metadata/MyOrg/A.json": "{}"}, "", source.Place{Connection: ".plugins"}, "in w: connections [MyOrg]"},
		{"percent signs mean themselves", map[string]string{"w/.metadata/MyOrg/A.json": `{}`}, "", source.Place{Connection: "%2e%2e"}, "in w: connections [MyOrg]"},
		{"names that don't show", map[string]string{"w/.metadata/My\nOrg/A.json": `{}`, "w/.metadata/MyOrg/A\x1b.json": `{}`, "w/.metadata/MyOrg/B\u202e.json": `{}`, "w/.metadata/MyOrg/C.json": `{}`}, "", source.Place{}, "in w; C "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.Mkdir(filepath.Join(dir, "w"), 0o755))
			plantFiles(t, dir, c.files)
			if c.project == "" {
				c.project = "w/Proj"
			}
			if c.at.Connection == "" {
				c.at.Connection = "MyOrg"
			}
			c.at.Project = filepath.Join(dir, c.project)
			s := open(t, Options{Roots: []string{filepath.Join(dir, "w")}, Home: filepath.Join(dir, "w", "home")})
			if got := look(t, s, dir, c.at); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestNames checks the errors for each invalid name, in each argument, and for invalid projects.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	plantFiles(t, dir, map[string]string{"w/.metadata/MyOrg/A.json": "{}"})
	s := open(t, Options{Roots: []string{filepath.Join(dir, "w")}})
	project := filepath.Join(dir, "w", "Proj")
	for _, bad := range []string{"", ".", "..", "../..", "../MyOrg", "/", "/etc", "a/b", `a\b`, `..\..`, `\\host\share`, "A\x00", "\x00", "C:", "C:secret", `C:\secret`, "MyOrg/../MyOrg", "MyOrg/"} {
		for want, at := range map[string]source.Place{
			"security_blocked /connection_name PATH_TRAVERSAL": {Connection: bad},
			"security_blocked /environment PATH_TRAVERSAL":     {Connection: "MyOrg", Environment: bad},
			"security_blocked /objects/1 PATH_TRAVERSAL":       {Connection: "MyOrg", Objects: []string{"A", bad}},
		} {
			at.Project = project
			if bad == "" && strings.Contains(want, "environment") {
				continue // "" selects the default
			}
			if got := look(t, s, dir, at); got != want {
				t.Errorf("%q: got %s, want %s", bad, got, want)
			}
		}
	}
	for bad, rule := range map[string]string{"": "PATH_TRAVERSAL", ".": "PATH_TRAVERSAL", "..": "PATH_TRAVERSAL", project + "/..": "PATH_TRAVERSAL", project + "/../../out": "PATH_TRAVERSAL",
		project + `\..\x`: "PATH_TRAVERSAL", project + "\x00": "PATH_TRAVERSAL", "w/Proj": "PATH_NOT_ALLOWED", "/": "PATH_NOT_ALLOWED", dir: "PATH_NOT_ALLOWED", "~/Proj": "PATH_NOT_ALLOWED",
		`C:\Proj`: "PATH_NOT_ALLOWED", "file://" + project: "PATH_NOT_ALLOWED", project + "%2f..": ""} {
		want := "security_blocked /project_path " + rule
		if rule == "" {
			want = "in w; A "
		}
		if got := look(t, s, dir, source.Place{Project: bad, Connection: "MyOrg"}); got != want {
			t.Errorf("%q: got %s, want %s", bad, got, want)
		}
	}
}

// TestOptions checks the options that restrict a source.
func TestOptions(t *testing.T) {
	dir := t.TempDir()
	plantFiles(t, dir, map[string]string{"w/.metadata/MyOrg/A.json": "{}", "w/.metadata/MyOrg/B.json": "{}", "w/.metadata/Other/C.json": "{}",
		"w/" + plugin + "Ide/default/SfObject/A.xml": object("D"), "w/" + plugin + "Ide/UAT/SfObject/A.xml": object("U")})
	roots := []string{filepath.Join(dir, "w")}
	for _, c := range []struct {
		options Options
		at      source.Place
		want    string
	}{
		{Options{Connection: "MyOrg"}, source.Place{Connection: "Other"}, "in w: connections [MyOrg]"},
		{Options{Connection: "MyOrg"}, source.Place{Connection: "MyOrg"}, "in w; A ; B "},
		{Options{Connection: "None"}, source.Place{Connection: "MyOrg"}, "in w: connections []"},
		{Options{Allows: func(o string) bool { return o != "A" }}, source.Place{Connection: "MyOrg"}, "in w; B "},
		{Options{Environment: "UAT"}, source.Place{Connection: "Ide"}, "in w env UAT; A U"},
		{Options{Environment: "UAT"}, source.Place{Connection: "Ide", Environment: "default"}, "in w env default; A D"},
	} {
		c.options.Roots, c.at.Project = roots, filepath.Join(dir, "w", "Proj")
		if got := look(t, open(t, c.options), dir, c.at); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.at, got, c.want)
		}
	}
	for _, roots := range [][]string{nil, {filepath.Join(dir, "nothing")}} {
		if s, err := New(Options{Name: "org", Roots: roots}); err == nil || s != nil {
			t.Errorf("roots %v: %v", roots, err)
		}
	}
}

// TestDescribe checks the classes and warnings of a source.
func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	plantFiles(t, dir, map[string]string{
		"w/one/.metadata/MyOrg/Contact.json":                                    `{"fields": [{"name": "Email"}, {"name": "Api_Key__c", "defaultValue": "s3cret"}]}`,
		"w/one/.metadata/MyOrg/Broken.json":                                     `{"fields":`,
		"w/one/.metadata/Second/Contact.json":                                   `{"fields": [{"name": "Other"}]}`,
		"w/Provar_Workspaces/workspace-x/" + plugin + "Ide/U/SfObject/A.xml":    object("N"),
		"w/Provar_Workspaces/workspace-x/" + plugin + "Ide/U/SfObject/Stub.xml": stub,
		"w/a/b/c/.metadata/Deep/TooDeep.json":                                   "{}",
		"w/.hidden/.metadata/Hidden/Hidden.json":                                "{}",
	})
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{}, `A [N] Described by the connection Ide, environment U
Broken [] Described by the connection MyOrg
Contact [Email Api_Key__c] Described by the connection MyOrg
Stub [] Described by the connection Ide, environment U
warning: org.Broken: the file is not valid JSON: it ends too early
warning: org: its roots have the connections Ide, MyOrg, Second. Of objects with one name the first is the class: name one in sources.org.metadata.connection`},
		{Options{Connection: "Second"}, "Contact [Other] Described by the connection Second"},
		{Options{Connection: "None"}, "warning: org: nothing is cached in its roots yet. org_describe looks again at each call"},
	} {
		c.options.Roots = []string{filepath.Join(dir, "w"), filepath.Join(dir, "w", "one")}
		classes, warnings, err := open(t, c.options).Describe(t.Context())
		must(t, err)
		var lines []string
		for _, class := range classes {
			names := []string{}
			for _, f := range class.Fields {
				names = append(names, f.Name)
				if f.Default != "" {
					t.Errorf("%s.%s shows its default", class.Name, f.Name)
				}
			}
			lines = append(lines, fmt.Sprint(class.Name, " ", names, " ", class.Description))
		}
		for _, w := range warnings {
			lines = append(lines, "warning: "+w)
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := open(t, Options{Roots: []string{dir}}).Describe(ctx); err == nil {
		t.Error("a cancelled Describe ends well")
	}
}

// A denied is Provar on a system that can't open the workspaces, or the connections, of some names.
type denied struct {
	Provar
	workspaces, connections bool
}

func (d denied) Open(f *folder) (Workspace, error) {
	ws, err := d.Provar.Open(f)
	if err == nil && d.workspaces {
		return nil, errors.Join(ws.Close(), &fs.PathError{Op: "openat", Path: "x", Err: syscall.EACCES})
	}
	return shut{ws, d.connections}, err
}

type shut struct {
	Workspace
	all bool
}

func (s shut) Open(connection, environment string) (*Objects, error) {
	if s.all {
		return nil, syscall.EACCES
	}
	return s.Workspace.Open(connection, environment)
}

// TestDenied checks that operators are told about workspaces and connections that can't be opened, but not about
// missing ones.
func TestDenied(t *testing.T) {
	dir := t.TempDir()
	plantFiles(t, dir, map[string]string{"w/one/.metadata/MyOrg/Contact.json": `{"fields": []}`, "w/two/notes.txt": ""})
	const nothing = "org: nothing is cached in its roots yet. org_describe looks again at each call"
	for _, c := range []struct {
		reader denied
		want   []string
	}{
		{denied{}, nil},
		{denied{workspaces: true}, []string{"org: " + filepath.Join(dir, "w/one") + " can't be opened: permission denied", nothing}},
		{denied{connections: true}, []string{"org: " + filepath.Join(dir, "w/one") + ": the connection MyOrg can't be opened: permission denied", nothing}},
	} {
		_, warnings, err := open(t, Options{Roots: []string{filepath.Join(dir, "w")}, Reader: c.reader}).Describe(t.Context())
		if err != nil || !slices.Equal(warnings, c.want) {
			t.Errorf("%+v: %q, %v; want %q", c.reader, warnings, err, c.want)
		}
	}
}

// TestAges checks the modification times of descriptions. Only regular files have them.
func TestAges(t *testing.T) {
	dir := t.TempDir()
	plantFiles(t, dir, map[string]string{"w/.metadata/MyOrg/A.json": "{}", "w/.metadata/MyOrg/L.json": "-> A.json"})
	must(t, syscall.Mkfifo(filepath.Join(dir, "w/.metadata/MyOrg/P.json"), 0o644))
	when := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	must(t, os.Chtimes(filepath.Join(dir, "w/.metadata/MyOrg/A.json"), when, when))
	found, err := open(t, Options{Roots: []string{dir}}).Look(t.Context(), source.Place{Project: filepath.Join(dir, "w", "Proj"), Connection: "MyOrg"})
	must(t, err)
	defer found.Reader.Close()
	if !slices.Equal(found.Objects, []string{"A", "L", "P"}) || !found.Reader.ModTime("A").Equal(when) ||
		!found.Reader.ModTime("L").IsZero() || !found.Reader.ModTime("P").IsZero() || !found.Reader.ModTime("none").IsZero() {
		t.Errorf("%v, %v", found.Objects, found.Reader.ModTime("A"))
	}
	if _, err := found.Reader.Object("P"); err == nil {
		t.Error("a pipe was read")
	}
	if _, err := found.Reader.Object("../A"); problem.CodeOf(err) != problem.NotFound {
		t.Errorf("a path was read: %v", err)
	}
}

// TestHandles checks that all files and folders are closed.
func TestHandles(t *testing.T) {
	dir := t.TempDir()
	plantFiles(t, dir, map[string]string{"w/.metadata/MyOrg/A.json": "{}", "w/" + plugin + "Ide/default/SfObject/A.xml": object("N"), "w/" + plugin + "Ide/other/x": "", "w/" + plugin + "Empty/x": "", "w/x/y/z": ""})
	s := open(t, Options{Roots: []string{filepath.Join(dir, "w")}})
	handles := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("LEFT OUT: open files: this system doesn't list them: %v", err)
		}
		return len(all)
	}
	before := handles()
	for range 20 {
		for _, connection := range []string{"MyOrg", "Ide", "Empty", "none", ".."} {
			look(t, s, dir, source.Place{Project: filepath.Join(dir, "w", "Proj"), Connection: connection})
		}
		if _, _, err := s.Describe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if after := handles(); after > before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

package metadata

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
)

// FuzzLook calls Look with arbitrary names and paths. Results must come only from the root, and must disclose nothing
// of the secret next to it.
func FuzzLook(f *testing.F) {
	for _, seed := range [][4]string{{"Proj", "MyOrg", "default", "A"}, {"../out/Proj", "MyOrg", "", "../A"}, {"linked/x", "Linked", "..", "Link"}, {"", "", "", ""}, {"a\x00b", "C:", "%2e", "\u202e"}} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	dir := f.TempDir()
	plantFiles(f, dir, map[string]string{"out/.metadata/MyOrg/secret.json": `{"fields": [{"name": "Secret"}]}`, "out/secret.json": "{}", "w/.metadata/MyOrg/A.json": "{}",
		"w/.metadata/MyOrg/Link.json": "-> ../../../out/secret.json", "w/.metadata/Linked": "-> ../../out/.metadata/MyOrg", "w/linked": "-> ../out", "w/" + plugin + "Ide/default/SfObject/A.xml": object("N")})
	s := open(f, Options{Roots: []string{filepath.Join(dir, "w")}, Home: filepath.Join(dir, "out")})
	f.Fuzz(func(t *testing.T, project, connection, environment, name string) {
		found, err := s.Look(t.Context(), source.Place{Project: filepath.Join(dir, "w") + "/" + project, Connection: connection, Environment: environment, Objects: []string{name}})
		if err != nil {
			if problem.CodeOf(err) != problem.SecurityBlocked {
				t.Fatal(err)
			}
			return
		}
		if found.Workspace != "" && found.Workspace != filepath.Join(dir, "w") {
			t.Fatalf("found %s", found.Workspace)
		}
		if found.Reader == nil {
			return
		}
		defer found.Reader.Close()
		for _, o := range append(found.Objects, name) {
			class, _ := found.Reader.Object(o)
			for _, field := range class.Fields {
				if strings.Contains(field.Name, "Secret") {
					t.Fatalf("%q shows the secret", o)
				}
			}
		}
	})
}

package metadata

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/source"
)

// TestTouchesNothingOutside runs hostile calls under strace, which records every path that is passed to the kernel.
// None may be outside of the root. Everything outside is named "outside-…", so searching the text is enough. strace
// -y shows the folder of relative paths.
func TestTouchesNothingOutside(t *testing.T) {
	if dir := os.Getenv("BAILIWICK_TRACED"); dir != "" {
		hostile(t, dir)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("LEFT OUT: system calls: there is no strace")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	plantFiles(t, dir, map[string]string{
		"outside-secret/out.json": `{"fields": [{"name": "Secret"}]}`, "outside-secret/.metadata/MyOrg/out.json": "{}", ".metadata/outside-org/A.json": "{}",
		"workspace-root/.metadata/outside-org/A.json": "{}", "outside-home/Provar/workspace-Proj/.metadata/MyOrg/A.json": "{}",
		"root/.metadata/MyOrg/A.json": "{}", "root/.metadata/MyOrg/Link.json": "-> ../../../outside-secret/out.json", "root/.metadata/Linked": "-> ../../outside-secret",
		"root/.metadata/Absolute": "-> " + filepath.Join(dir, "outside-secret"), "root/workspace-Linked": "-> ../outside-secret", "root/linked": "-> ../outside-secret",
		"root/" + plugin + "Ide/default/SfObject/A.xml": object("N"), "root/" + plugin + "Ide/Linked": "-> ../../../../../../outside-secret",
	})
	run := func(name string) string {
		t.Helper()
		log := filepath.Join(t.TempDir(), "trace")
		cmd := exec.Command(strace, "-f", "-y", "-s", "4096", "-e", "trace=%file,getdents64,read,readlinkat", "-o", log, os.Args[0], "-test.run", "^TestTouchesNothingOutside$")
		cmd.Env = append(os.Environ(), "BAILIWICK_TRACED="+filepath.Join(dir, name))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		trace, err := os.ReadFile(log)
		must(t, err)
		return string(trace)
	}
	trace := run("root")
	for _, seen := range []string{`"A.json"`, `"A.xml"`, `"Link.json"`, `"Linked"`} {
		if !strings.Contains(trace, seen) {
			t.Errorf("the trace has no call with %s: it shows nothing", seen)
		}
	}
	for line := range strings.Lines(trace) {
		if strings.Contains(line, "outside") || strings.Contains(line, `"..`) || strings.Contains(line, dir+`/workspace-root`) || strings.Contains(line, dir+`/.metadata`) {
			t.Errorf("outside of the root: %s", line)
		}
	}
	// With a root that contains everything, the name must occur. That shows that the search works.
	if wide := run("."); !bytes.Contains([]byte(wide), []byte("outside")) {
		t.Error("a root that has the secret shows no call with its name")
	}
}

// hostile makes calls that try to leave root.
func hostile(t *testing.T, root string) {
	s := open(t, Options{Roots: []string{root}, Home: filepath.Join(filepath.Dir(root), "outside-home")})
	if _, _, err := s.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{root, root + "/Proj", root + "/linked/Proj", root + "/Linked", root + "/../outside-secret/Proj", filepath.Dir(root) + "/outside-secret/Proj", root + "/.metadata/Linked/x"} {
		for _, connection := range []string{"MyOrg", "Ide", "Linked", "Absolute", "..", "../../outside-secret", "outside-secret", "%2e%2e"} {
			for _, object := range []string{"A", "Link", "../../../outside-secret/out", "..", "/etc/passwd"} {
				for _, env := range []string{"", "Linked", "../../../../../../outside-secret"} {
					look(t, s, root, source.Place{Project: project, Connection: connection, Environment: env, Objects: []string{object}})
				}
			}
		}
	}
}

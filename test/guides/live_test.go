package guides

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// live lists blocks of commands whose arguments TestExamples only reads, and that need no more than the demo or a folder of
// examples, by page and the beginning of the first line. answers says that the lines below a command are what it prints.
var live = []struct {
	page, begins string
	answers      bool
}{
	{"docs/authentication.md", "bailiwick token create", false},
	{"docs/changes.md", "bailiwick token create", false},
	{"docs/console.md", "bailiwick people invite", false},
	{"docs/limits.md", "bailiwick audit usage", false},
	{"docs/operating.md", "bailiwick store backup", false},
	{"docs/operating.md", "bailiwick audit archive", false},
	{"docs/metadata.md", "cp -r examples/metadata", true},
	{"docs/metadata.md", "sqlite3 desk.db", true},
}

// TestLive runs the commands of live in the folder that the demo makes, from the first to the last, and looks for their answers.
func TestLive(t *testing.T) {
	programs := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(programs, "bailiwick"), "../../cmd/bailiwick").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, programs)
	p.play(t, "bailiwick demo --once --listen 127.0.0.1:8420 --dir . >demo.log 2>&1", nil)
	here := strings.NewReplacer("/backups/", p.folder+"/", "/tmp/desk", p.folder+"/desk", "examples/", examples+"/", "01m7zyr7y0kh8m74h34m29r9yy", "…")
	for _, l := range live {
		text, err := os.ReadFile(filepath.Join("../..", l.page))
		if err != nil {
			t.Fatal(err)
		}
		all := blocks(l.page, string(text))
		i := slices.IndexFunc(all, func(b block) bool { return strings.HasPrefix(b.text, l.begins) })
		if i < 0 {
			t.Errorf("%s has no example that begins with %s", l.page, l.begins)
			continue
		}
		if _, err := exec.LookPath("sqlite3"); err != nil && strings.HasPrefix(l.begins, "sqlite3") {
			t.Log("LEFT OUT: the actions of docs/metadata.md, because sqlite3 is not here")
			continue
		}
		var console strings.Builder
		for line := range strings.Lines(here.Replace(all[i].text)) {
			switch {
			case command.MatchString(line):
				console.WriteString("$ " + line)
			case l.answers:
				console.WriteString(line)
				if strings.HasPrefix(line, "invalid_argument: ") {
					console.WriteString("exit code 1\n")
				}
			}
		}
		if p.block(t, console.String()+"\n") == 0 {
			t.Errorf("%s: no command in\n%s", l.page, all[i].text)
		}
	}
}

package guides

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// live lists blocks of commands whose arguments TestExamples only reads, by page and the beginning of the first line.
// They need no more than the demo or a folder of examples. answers says that the lines below a command are its whole
// output.
var live = []struct {
	page, begins string
	answers      bool
}{
	{"docs/authentication.md", "bailiwick token create", false},
	{"docs/changes.md", "bailiwick token create", false},
	{"docs/console.md", "bailiwick people invite", false},
	{"docs/limits.md", "bailiwick audit usage", true},
	{"docs/sql.md", "bailiwick sql", true},
	{"docs/pipelines.md", "bailiwick call", true},
	{"docs/query-language.md", "bailiwick call", true},
	{"docs/apis.md", "bailiwick call", true},
	{"docs/hidden.md", "bailiwick call", true},
	{"docs/expressions.md", "bailiwick call", true},
	{"docs/actions.md", "bailiwick call", true},
	{"docs/policy.md", "bailiwick policy explain", true},
	{"docs/databases.md", "bailiwick check", true},
	{"docs/operating.md", "bailiwick store backup", false},
	{"docs/operating.md", "bailiwick audit archive", false},
	{"docs/metadata.md", "cp -r examples/metadata", true},
	{"docs/metadata.md", "sqlite3 desk.db", true},
}

// varies matches the parts of an answer that differ from run to run: ids, cursors, times, hashes and counts of usage.
var varies = regexp.MustCompile(`01[0-9a-z]{24,}|"cursor":"[^"]*"|\d{4}-\d\d-\d\d \d\d:\d\d( UTC)?|rules [0-9a-f]{32}|^root .*`)

// refuses matches the first line of an answer that ends a command with code 1.
var refuses = regexp.MustCompile(`^(?:invalid_[a-z]+: |refused )`)

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
	here := strings.NewReplacer("/backups/", p.folder+"/", "/tmp/desk", p.folder+"/desk", "examples/", examples+"/")
	for _, l := range live {
		page, err := os.ReadFile(filepath.Join("../..", l.page))
		if err != nil {
			t.Fatal(err)
		}
		all := blocks(l.page, string(page))
		i := slices.IndexFunc(all, func(b block) bool { return strings.HasPrefix(b.text, l.begins) })
		if i < 0 {
			t.Errorf("%s has no example that begins with %s", l.page, l.begins)
			continue
		}
		if _, err := exec.LookPath("sqlite3"); err != nil && strings.HasPrefix(l.begins, "sqlite3") {
			t.Log("LEFT OUT: the actions of docs/metadata.md, because sqlite3 is not here")
			continue
		}
		text := here.Replace(all[i].text)
		commands := 0
		for line := range strings.Lines(text) {
			if !command.MatchString(line) {
				continue
			}
			commands++
			_, after, _ := strings.Cut(text, line)
			p.answer(t, strings.TrimSpace(line), shownLines(after), l.answers)
		}
		if commands == 0 {
			t.Errorf("%s: no command in\n%s", l.page, all[i].text)
		}
	}
}

// shownLines returns the lines before the next command, without empty ones at both ends.
func shownLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if command.MatchString(line) {
			break
		}
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// answer plays a command. If answers is true, the lines shown below it are its whole output.
func (p *player) answer(t *testing.T, command string, shown []string, answers bool) {
	t.Helper()
	p.whole = nil
	if answers && len(shown) > 0 {
		p.whole = &whole{varies: varies, fails: slices.ContainsFunc(shown, refuses.MatchString)}
	} else {
		shown = nil
	}
	p.play(t, command, shown)
}

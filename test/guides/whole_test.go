package guides

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the output of commands into the blocks that show it whole")

// wholeComment matches the comment before a console block that shows the whole output of its commands.
const wholeComment = "^(<!-- test: whole)( fails)?(?: varies (.*?))? -->$"

// A whole compares complete outputs.
type whole struct {
	varies *regexp.Regexp // parts that may differ, or nil
	fails  bool           // the last command fails
	shown  strings.Builder
	differ bool
}

func newWhole(t *testing.T, fails, varies string) *whole {
	t.Helper()
	w := &whole{fails: fails != ""}
	if varies == "" {
		return w
	}
	var err error
	if w.varies, err = regexp.Compile(varies); err != nil {
		t.Fatal(err)
	}
	return w
}

var spaces = regexp.MustCompile("  +")

// normal returns a line without the parts that may differ in it. Columns may be wider.
func (w *whole) normal(line string) string {
	line = strings.TrimRight(line, " \r\n")
	if w.varies != nil {
		line = w.varies.ReplaceAllString(line, "…")
	}
	return spaces.ReplaceAllString(line, "  ")
}

// compare checks that out is the text of the page, and keeps the text that it should show.
func (w *whole) compare(t *testing.T, command string, shown []string, out string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	failed := strings.HasPrefix(lines[len(lines)-1], "exit code ")
	if failed {
		lines = lines[:len(lines)-1]
	}
	if failed != w.fails && (failed || strings.HasPrefix(command, "bailiwick")) {
		t.Errorf("$ %s\nfails: %v\n%s", command, failed, out)
	}
	pattern, known := "^", map[string]string{}
	for _, line := range strings.Split(strings.TrimRight(strings.Join(shown, "\n"), "\n"), "\n") {
		known[w.normal(line)] = line
		if line == "…" {
			pattern += "(?:.*\n)*"
			continue
		}
		pattern += regexp.QuoteMeta(w.normal(line)) + "\n"
	}
	var got, now strings.Builder
	now.WriteString("$ " + command + "\n")
	for _, line := range lines {
		n := w.normal(line)
		got.WriteString(n + "\n")
		if same, is := known[n]; is {
			line = same
		}
		if len(lines) > 1 || line != "" {
			now.WriteString(strings.TrimRight(line, " \r") + "\n")
		}
	}
	if regexp.MustCompile(pattern + "$").MatchString(got.String()) {
		w.shown.WriteString("$ " + command + "\n")
		for _, line := range shown {
			w.shown.WriteString(line + "\n")
		}
		return
	}
	w.differ = true
	w.shown.WriteString(now.String())
	if !*update {
		t.Errorf("$ %s\nprints\n%s\nand the page shows\n%s\n(go test ./test/guides -update writes it)", command, out, strings.Join(shown, "\n"))
	}
}

// rewrite puts what the commands of a block print in its place, if -update is given.
func (p *player) rewrite(t *testing.T, page, block string) {
	t.Helper()
	if !*update || p.whole == nil || !p.whole.differ {
		return
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte(strings.Replace(string(text), block, p.whole.shown.String(), 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

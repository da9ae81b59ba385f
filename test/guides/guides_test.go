// Package guides plays the README and the guides of docs/guides on a fresh copy. It runs every command of their console
// blocks and compares every line that they expect. It also takes the way from init to a first answer with the tables of
// real applications.
package guides

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// A page is played from top to bottom in one shell, in an empty folder of its own:
//
//   - a ```console block holds commands after "$ ", and under each the lines that must be in its output, in this order. "…"
//     in a line is any text. A line that is only "…" is any number of lines. A command that ends in " &" runs in the
//     background, and the test waits for its lines.
//   - <!-- test: whole --> before a console block says that it shows the whole output of each command. Text that matches
//     the expression after "varies" may differ. "fails" says that the last command fails. See whole_test.go.
//   - a block whose first line is "# FILE: name" is written to that file.
//   - <!-- database: file, newline, SQL --> makes a SQLite database. <!-- database: file --> before a block of SQL does, too.
//   - <!-- play: command --> is a command that readers need not see.
//
// Port 8420, which the pages name, is replaced by a free one.
var parts = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$|^<!-- play: (.*?) -->$|^<!-- database: (\\S+)\n(.*?)^-->$|" + wholeComment + "|^<!-- database: (\\S+) -->\n```sql\n(.*?)^```$")

func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatal(len(pages), err)
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "real"), "../../cmd/bailiwick")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The pages say "bailiwick serve" and "bailiwick demo": here they listen on a free port.
	wrapper := "#!/bin/sh\ncase \"$1 $*\" in\n\"serve \"*--stdio*|\"serve \"*--listen*|\"demo \"*--listen*) ;;\n\"serve \"*|\"demo \"*) set -- \"$@\" --listen 127.0.0.1:$PORT ;;\nesac\nexec " + filepath.Join(dir, "real") + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "bailiwick"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			p := open(t, dir)
			played := 0
			var exact *whole
			for _, m := range parts.FindAllStringSubmatch(string(text), -1) {
				if name, is := strings.CutPrefix(m[2], "# FILE: "); is {
					name, body, _ := strings.Cut(name, "\n")
					if err := os.WriteFile(filepath.Join(p.folder, strings.Fields(name)[0]), []byte(body), 0o644); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if m[9] != "" {
					filled(t, filepath.Join(p.folder, m[9]), m[10])
				}
				if m[4] != "" {
					filled(t, filepath.Join(p.folder, m[4]), m[5])
				}
				if m[3] != "" {
					p.play(t, m[3], nil)
				}
				if m[6] != "" {
					exact = newWhole(t, m[7], m[8])
				}
				if m[1] == "console" {
					p.whole, exact = exact, nil
					played += p.block(t, m[2])
					p.rewrite(t, page, m[2])
				}
			}
			if played == 0 {
				t.Error("no command")
			}
		})
	}
}

// filled makes a SQLite database.
func filled(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

// A player is a shell that plays a page.
type player struct {
	folder, port string
	in           io.Writer
	out          *bufio.Reader
	background   int
	whole        *whole // of the block that is played, or nil
}

func open(t *testing.T, programs string) *player {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	p := &player{folder: t.TempDir(), port: port}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	cmd := exec.CommandContext(ctx, "sh")
	cmd.Dir = p.folder
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), "PORT="+port, "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "CODEX_HOME=", "CLAUDE_CONFIG_DIR=", "NO_COLOR=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	p.in, p.out = in, bufio.NewReader(read)
	t.Cleanup(func() {
		fmt.Fprintln(p.in, "for p in $PIDS; do kill $p; wait $p; done; exit")
		in.Close()
		_ = cmd.Wait() // a server that was ended reports that
		read.Close()
		stop()
	})
	return p
}

// block plays a console block, and returns the number of its commands.
func (p *player) block(t *testing.T, text string) int {
	t.Helper()
	n := 0
	var command string
	var want []string
	for line := range strings.Lines(text + "$ \n") {
		line = strings.TrimRight(line, "\n")
		next, is := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasSuffix(command, "\\") && !is:
			command += "\n" + line
		case !is:
			want = append(want, line)
		default:
			if command != "" {
				p.play(t, command, want)
				n++
			}
			command, want = next, nil
		}
	}
	return n
}

// play runs a command and looks for the lines in its output.
func (p *player) play(t *testing.T, command string, want []string) {
	t.Helper()
	command = strings.ReplaceAll(command, "make demo", "bailiwick demo --once --listen 127.0.0.1:8420 --dir made") // without the end that needs Ctrl-C
	run, goes := strings.CutSuffix(strings.ReplaceAll(command, "8420", p.port), " &")
	if !goes && p.whole != nil {
		p.whole.compare(t, command, want, p.run(t, run))
		return
	}
	if !goes {
		if missing, got := absent(want, p.run(t, run)); missing != "" {
			t.Errorf("$ %s\nprints no line\n%s\nbut\n%s", command, missing, got)
		}
		return
	}
	p.background++
	log := fmt.Sprintf("background-%d.log", p.background)
	log = filepath.Join(p.folder, log)
	p.run(t, fmt.Sprintf("%s >%s 2>&1 & PIDS=\"$PIDS $!\"", run, log))
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(log)
		missing, got := absent(want, strings.ReplaceAll(string(text), p.port, "8420"))
		if missing == "" && err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("$ %s\nprints no line\n%s\nbut\n%s", command, missing, got)
		}
	}
}

// run returns what a command prints. A command that fails says so in its last line.
func (p *player) run(t *testing.T, command string) string {
	t.Helper()
	fmt.Fprintf(p.in, "%s\ncode=$?; [ $code = 0 ] || echo \"exit code $code\"; echo; echo ' end of command'\n", command)
	var b strings.Builder
	for {
		line, err := p.out.ReadString('\n')
		if strings.HasPrefix(line, " end of command") {
			break
		}
		b.WriteString(line)
		if err != nil {
			t.Fatalf("the shell ended at %s: %v\n%s", command, err, b.String())
		}
	}
	return strings.ReplaceAll(b.String(), p.port, "8420")
}

// absent returns the first of the lines that out doesn't have after those before it. A page that doesn't say "exit code" expects
// the command to succeed.
func absent(want []string, out string) (missing, got string) {
	lines := strings.Split(out, "\n")
	at, fails := 0, false
	for _, w := range want {
		w = strings.TrimRight(w, " ")
		fails = fails || strings.HasPrefix(w, "exit code")
		if w == "…" || w == "" {
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(w), "…", ".*") + "$")
		for at < len(lines) && !pattern.MatchString(strings.TrimRight(lines[at], " \r")) {
			at++
		}
		if at == len(lines) {
			return w, out
		}
		at++
	}
	if !fails && strings.Contains(out, "\nexit code ") || strings.HasPrefix(out, "exit code ") && !fails {
		return "(the command fails)", out
	}
	return "", out
}

package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/llm"
	"github.com/bailiwick-dev/bailiwick/test/scripted"
)

// providerKey is the key for the scripted provider. It must not appear on the screen or on disk.
const providerKey = "sk-canary-4711-0815"

// A person is a user of the program at a terminal.
type person struct {
	t    *testing.T
	dir  string
	tty  *os.File
	cmd  *exec.Cmd
	done chan error

	mu   sync.Mutex
	seen []byte
	at   int // position in the unstyled output after the last awaited text
}

// sitDown starts the program at a terminal, with a tracker and a scripted model.
func sitDown(t *testing.T, script scripted.Script, args ...string) *person {
	t.Helper()
	data, err := oneTracker()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, dir: t.TempDir(), done: make(chan error, 1)}
	for name, content := range map[string][]byte{"tracker.db": data, "bailiwick.yaml": []byte(demo.Config)} {
		if err := os.WriteFile(filepath.Join(p.dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model := httptest.NewServer(&scripted.Server{Script: script, Key: providerKey})
	t.Cleanup(model.Close)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = &exec.Cmd{Path: self, Args: append([]string{"bailiwick"}, args...), Dir: p.dir, Env: []string{"HOME=" + p.dir, "TERM=xterm-256color", "PATH=/usr/bin:/bin",
		"LLM_PROVIDER=openai", "LLM_API_KEY=" + providerKey, "LLM_BASE_URL=" + model.URL + "/v1"}}
	if p.tty, err = pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 40, Cols: 110}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill() //nolint:errcheck // it has ended, where all went well
		p.tty.Close()
	})
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := p.tty.Read(buf)
			p.mu.Lock()
			p.seen = append(p.seen, buf[:n]...)
			p.mu.Unlock()
			if err != nil {
				p.done <- p.cmd.Wait()
				return
			}
		}
	}()
	return p
}

// styles matches terminal styles.
var styles = regexp.MustCompile("\x1b\\[[0-9]*m")

// sees waits for a text after the previously awaited text.
func (p *person) sees(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		seen := styles.ReplaceAll(p.seen, nil)
		i := bytes.Index(seen[p.at:], []byte(text))
		if i >= 0 {
			p.at += i + len(text)
		}
		rest := string(seen[p.at:])
		p.mu.Unlock()
		if i >= 0 {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%q does not come; on the screen:\n%q", text, rest)
		}
	}
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the program to end successfully. It also checks that the provider's key appears nowhere.
func (p *person) ends() {
	p.t.Helper()
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Error(err)
		}
	case <-time.After(60 * time.Second):
		p.t.Fatal("the program does not end")
	}
	if bytes.Contains(p.seen, []byte(providerKey)) {
		p.t.Error("the key is on the screen")
	}
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(providerKey)) {
			p.t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		p.t.Error(err)
	}
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
	enter = "\r"
)

// TestChatTerminal checks a chat at a terminal: answers, completion, history, Ctrl-C in both places, a confirmed
// change, a new window size, and data with terminal control sequences.
func TestChatTerminal(t *testing.T) {
	rules := scripted.Rules(scripted.Tracker())
	p := sitDown(t, func(n int, c scripted.Conversation) scripted.Turn {
		switch c.Question() {
		case "Take your time.":
			return scripted.Turn{Text: "one two three", Pause: 500 * time.Millisecond, CutAfter: 1 << 20}
		case "Be evil.":
			if len(c.Results()) == 0 {
				return scripted.Turn{Calls: []llm.Call{{Name: "count_objects", Arguments: "{\"class_name\":\"\\u001b]0;evil\\u0007\"}"}}}
			}
			return scripted.Turn{Text: "\x1b]0;evil\x07\x1b[2J\u202ereversed **done**"}
		}
		return rules(n, c)
	}, "chat", "--config", "bailiwick.yaml", "--as", "acme", "--scopes", "read,write")
	p.sees("gpt-4o-mini")
	p.sees("> ")
	p.types("How many critical bugs are open?" + enter)
	p.sees("query_sql")
	p.sees("37")
	p.sees("critical bugs are open.")
	p.sees("> ")
	p.types("/hist\t" + enter)
	p.sees("/history")
	p.sees("assistant")
	p.sees("> ")
	p.types("half a line" + ctrlC)
	p.sees("Ctrl-D or /exit ends the chat.")
	p.types("Take your time." + enter)
	p.sees("thinking")
	p.types(ctrlC)
	p.sees("(stopped)")
	if err := pty.Setsize(p.tty, &pty.Winsize{Rows: 20, Cols: 50}); err != nil {
		t.Fatal(err)
	}
	p.types("Move the newest critical bug in progress to review." + enter)
	p.sees("Propose ")
	p.sees("update_status")
	p.sees("[y/N] ")
	p.types("n" + enter)
	p.sees("the user declined this call")
	p.types(up + enter)
	p.sees("[y/N] ")
	p.types("y" + enter)
	p.sees("Change pending approval. ID:")
	p.sees("waits for a person:")
	p.types("Be evil." + enter)
	p.sees("refused")
	p.sees("reversed ")
	p.types("/cost" + enter)
	p.sees("session: ")
	p.sees("last: ")
	p.types(ctrlD)
	p.ends()
	if s := string(p.seen); strings.Contains(s, "\x1b]0;") || strings.Contains(s, "\u202e") {
		t.Error("data controls the terminal")
	}
	file := filepath.Join(p.dir, ".local/state/bailiwick/chat_history")
	kept, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(kept), "How many critical bugs are open?\n") || strings.Contains(string(kept), "\ny\n") {
		t.Errorf("%v, the history: %q", err, kept)
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the history: %v", info.Mode())
	}
}

// TestShellTerminal checks completion of names and fields. It also checks the history, which must omit the token
// given to the command as.
func TestShellTerminal(t *testing.T) {
	p := sitDown(t, scripted.Play(), "shell", "--config", "bailiwick.yaml", "--as", "acme")
	p.sees("bailiwick> ")
	p.types("sche\t\t")
	p.sees("schemas")
	p.types(ctrlC)
	p.types("count iss\t\t")
	p.sees("issue_labels")
	p.types("s {\"stat\t")
	p.sees("status")
	p.types("\":\"Review\"}" + enter)
	p.sees("109")
	p.types(up + enter)
	p.sees("109")
	p.types("as globex" + enter)
	p.sees("somebody else now")
	p.types("count issues {\"status\":\"Review\"}" + enter)
	p.sees("bailiwick> ")
	p.types("q labels" + enter)
	p.sees("records")
	p.types("sql SELECT count(*) AS reviewed FROM issues WHERE status = 'Review'" + enter)
	p.sees("reviewed")
	p.types("ask Anything?" + enter)
	p.sees("(the script has ended)")
	p.types(ctrlD)
	p.ends()
	kept, err := os.ReadFile(filepath.Join(p.dir, ".local/state/bailiwick/shell_history"))
	if err != nil || !strings.Contains(string(kept), "q labels\n") || strings.Contains(string(kept), "globex") {
		t.Errorf("%v, the history: %q", err, kept)
	}
}

// TestInitAsks answers the three questions of init at a terminal. Its first answers are invalid.
func TestInitAsks(t *testing.T) {
	p := sitDown(t, scripted.Play(), "init", "tracker.db", "--out", "new.yaml")
	p.sees("Which field says whose a record is?")
	p.sees("1  org_id")
	p.sees("2  none")
	p.types("7\r")
	p.sees("7 is none of them. Write a number from 1 to 2")
	p.types("\r")
	p.sees("personal data")
	p.types("hide\r")
	p.sees("May agents change records?")
	p.types("2\r")
	p.sees("wrote new.yaml")
	p.ends()
	text, err := os.ReadFile(filepath.Join(p.dir, "new.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tenant: {field: org_id, is: principal.tenant}", "gates: {writes: review, raw_writes: review}", "denied: [email, name]"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

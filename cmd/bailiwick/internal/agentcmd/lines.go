package agentcmd

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterh/liner"
)

// errInterrupt reports Ctrl-C at the prompt.
var errInterrupt = errors.New("interrupted")

// maxLine is the maximum length of a line from input that is not a terminal, in bytes.
const maxLine = 1 << 20

// Lines reads lines of input. On a terminal it supports editing, history and completion.
type Lines struct {
	editor  *liner.State // nil without a terminal
	scanner *bufio.Scanner
	history string // the path of the history file, or ""
}

// newLines returns Lines for the reader in. interactive is true if it is a terminal. history is the name of the
// history file in the user's state folder. With "", no history is stored.
func newLines(in io.Reader, interactive bool, history string) *Lines {
	l := &Lines{}
	if !interactive {
		l.scanner = bufio.NewScanner(in)
		l.scanner.Buffer(nil, maxLine)
		return l
	}
	l.editor = liner.NewLiner()
	l.editor.SetCtrlCAborts(true)
	l.editor.SetTabCompletionStyle(liner.TabPrints)
	if l.history = historyFile(history); l.history != "" {
		if f, err := os.Open(l.history); err == nil {
			_, _ = l.editor.ReadHistory(f) // an unreadable history is ignored
			f.Close()                      //nolint:errcheck // it was only read
		}
	}
	return l
}

// historyFile returns the path of a history, or "" if there is no state folder.
func historyFile(name string) string {
	if name == "" {
		return ""
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bailiwick", name)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "bailiwick", name)
}

// Complete sets the completion function f. For the text before the cursor, f returns the position of the word's start
// and the completions.
func (l *Lines) Complete(f func(before string) (at int, words []string)) {
	if l.editor == nil {
		return
	}
	l.editor.SetWordCompleter(func(line string, pos int) (string, []string, string) {
		runes := []rune(line)
		before := string(runes[:min(pos, len(runes))])
		at, words := f(before)
		return before[:at], words, line[len(before):]
	})
}

// Next returns the next line. It returns io.EOF at the end of the input (Ctrl-D) and errInterrupt after Ctrl-C.
func (l *Lines) Next(prompt string) (string, error) {
	if l.editor == nil {
		if l.scanner.Scan() {
			return l.scanner.Text(), nil
		}
		return "", errors.Join(io.EOF, l.scanner.Err())
	}
	line, err := l.editor.Prompt(prompt)
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", errInterrupt
	}
	if err == nil && strings.TrimSpace(line) != "" {
		l.editor.AppendHistory(line)
		l.keep()
	}
	return line, err
}

// Secret removes a line that contained a credential from the history.
func (l *Lines) Secret(line string) {
	if l.editor == nil {
		return
	}
	var b strings.Builder
	_, _ = l.editor.WriteHistory(&b) // into memory
	kept := strings.ReplaceAll("\n"+b.String(), "\n"+line+"\n", "\n")
	l.editor.ClearHistory()
	_, _ = l.editor.ReadHistory(strings.NewReader(strings.TrimPrefix(kept, "\n"))) // from memory
	l.keep()
}

// keep writes the history file so that only its owner can read it. It ignores errors.
func (l *Lines) keep() {
	if l.history == "" || os.MkdirAll(filepath.Dir(l.history), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(l.history, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	_, _ = l.editor.WriteHistory(f)
	f.Close() //nolint:errcheck // likewise
}

// Close restores the terminal.
func (l *Lines) Close() {
	if l.editor != nil {
		l.editor.Close() //nolint:errcheck // nothing more is read
	}
}

// Answer asks a question. The answer is not added to the history.
func (l *Lines) Answer(question string) (string, error) {
	if l.editor == nil {
		return l.Next(question)
	}
	line, err := l.editor.Prompt(question)
	if errors.Is(err, liner.ErrPromptAborted) {
		err = errInterrupt
	}
	return line, err
}

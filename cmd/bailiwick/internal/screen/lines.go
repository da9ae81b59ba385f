package screen

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterh/liner"
)

// ErrInterrupt is Ctrl-C at the prompt.
var ErrInterrupt = errors.New("interrupted")

// maxLine bounds a line that isn't typed, in bytes.
const maxLine = 1 << 20

// Lines reads what a person writes, line by line: edited, with a history and completion in a terminal, and as it comes
// from anything else.
type Lines struct {
	editor  *liner.State // nil without a terminal
	scanner *bufio.Scanner
	history string // the file; "" keeps none
}

// NewLines reads from in; interactive says that it is a terminal. history is the file that keeps what was written, below
// the user's folder for state; "" keeps nothing.
func NewLines(in io.Reader, interactive bool, history string) *Lines {
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
			_, _ = l.editor.ReadHistory(f) // what can't be read is not there to be found again
			f.Close()                      //nolint:errcheck // it was only read
		}
	}
	return l
}

// historyFile returns where a history is kept, or "" where there is no place.
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

// Complete sets what Tab completes: from what is written before the cursor, where the word begins and what it can become.
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

// Next returns the next line: io.EOF at the end (Ctrl-D), ErrInterrupt after Ctrl-C.
func (l *Lines) Next(prompt string) (string, error) {
	if l.editor == nil {
		if l.scanner.Scan() {
			return l.scanner.Text(), nil
		}
		return "", errors.Join(io.EOF, l.scanner.Err())
	}
	line, err := l.editor.Prompt(prompt)
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", ErrInterrupt
	}
	if err == nil && strings.TrimSpace(line) != "" {
		l.editor.AppendHistory(line)
		l.keep()
	}
	return line, err
}

// Secret forgets the last line, which held a credential.
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

// keep writes the history, which only its owner can read. One that can't be written isn't kept.
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

// Close gives the terminal back as it was.
func (l *Lines) Close() {
	if l.editor != nil {
		l.editor.Close() //nolint:errcheck // nothing more is read
	}
}

// Answer asks a question in the middle of something; what is answered is in no history.
func (l *Lines) Answer(question string) (string, error) {
	if l.editor == nil {
		return l.Next(question)
	}
	line, err := l.editor.Prompt(question)
	if errors.Is(err, liner.ErrPromptAborted) {
		err = ErrInterrupt
	}
	return line, err
}

package store

import "fmt"

// A Failure says which step failed, where and why. Its text is safe for logs: it holds no value of a record.
type Failure struct {
	Doing, At string // "append to the audit log", "bailiwick.db"
	Why       string // "the disk is full", or "" if only Code is known
	Public    string // the reason in words that anyone may read, or ""
	Code      string // the database's own code: "SQLite error 13", or ""
	Err       error
}

// Error returns the text for operators, with the cause if no reason is known.
func (e *Failure) Error() string {
	if e.Why == "" && e.Err != nil {
		return fmt.Sprintf("%s in %s: %v", e.Doing, e.At, e.Err)
	}
	return e.LogText()
}

// LogText returns the text without that of the cause.
func (e *Failure) LogText() string {
	text := e.Doing + " in " + e.At
	if e.Why != "" {
		text += ": " + e.Why
	}
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *Failure) Unwrap() error { return e.Err }

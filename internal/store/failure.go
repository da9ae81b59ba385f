package store

import "fmt"

// A Failure contains the failed step, the place and the reason. Its text is safe for logs, because it contains no
// value of a record.
type Failure struct {
	Doing, At string // "append to the audit log", "bailiwick.db"
	Why       string // "the disk is full", or "" if only Code is known
	Public    string // the reason in a form that anyone may read, or ""
	Code      string // the database's own code: "SQLite error 13", or ""
	Err       error
}

// Error returns the text for operators. If the reason is unknown, the text includes the cause.
func (e *Failure) Error() string {
	if e.Why == "" && e.Err != nil {
		return fmt.Sprintf("%s in %s: %v", e.Doing, e.At, e.Err)
	}
	return e.LogText()
}

// LogText returns the text without the text of the cause.
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

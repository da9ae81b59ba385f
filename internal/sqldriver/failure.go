package sqldriver

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
)

// Errors describes how to read the errors of one driver.
type Errors struct {
	// Plain returns the part of a driver's error that may be logged, see ErrorText. It returns "" for other errors.
	Plain func(error) string
	// Changed reports whether a table, a column or a type in the statement differs from its description.
	Changed func(error) bool
	// Meaning returns the Meaning of a driver's error, and false for other errors.
	Meaning func(error) (Meaning, bool)
}

// meaning returns the Meaning of err. An error that didn't come from the database is an error of the connection, so
// its meaning is Busy.
func (e Errors) meaning(err error) Meaning {
	if _, ok := errors.AsType[*mismatch](err); ok {
		return Broken
	}
	if e.Meaning == nil {
		return Busy
	}
	if m, ok := e.Meaning(err); ok {
		return m
	}
	return Busy
}

// Refuse turns an error of the database into an error for the caller. Its Err is for operators.
func (e Errors) Refuse(ctx context.Context, err error) error { return e.refuse(ctx, err, "") }

// refuse returns the error for the caller of a statement that failed with err: too slow, cancelled, or the error's
// Meaning. The details are only in the log. The database's own text never reaches the caller.
func (e Errors) refuse(ctx context.Context, err error, statement string) error {
	m := e.meaning(err)
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if late && m != Full { // Full means that the statement got no connection, so it never ran
		m = Slow
	}
	is := meanings[m]
	p := &problem.Error{Code: is.code, Detail: is.detail, Suggestion: is.suggestion, Err: e.loggable(err, statement), Lasting: m != Busy && m != Full && m != Slow}
	if ctx.Err() != nil && !late {
		p.Code, p.Detail, p.Suggestion, p.Lasting = problem.Cancelled, "the call was cancelled", "", false
	}
	return p
}

// RefuseWrite is like Refuse, for an error of a write.
func (e Errors) RefuseWrite(ctx context.Context, err error) error {
	out := e.Refuse(ctx, err)
	if ctx.Err() != nil {
		return out
	}
	switch p := problem.Of(out); e.meaning(err) {
	case Slow:
		p.Detail = "the write took too long and was stopped"
	case Unfit:
		p.Code, p.Detail, p.Suggestion = meanings[Input].code, meanings[Input].detail, meanings[Input].suggestion
	}
	return out
}

// loggable returns err as a failure, without the database's message. It returns an existing failure unchanged.
func (e Errors) loggable(err error, statement string) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return &failure{err: err, text: e.plainly(err), statement: statement, changed: e.Changed != nil && e.Changed(err)}
}

// A failure is a database error in a form that may be logged: its kind, and the statement's digest. A database's
// messages can contain values of records and of rules ("duplicate key value (email)=(…)", "invalid input syntax: …").
// So only harmless messages are repeated. errors.As can still find the error itself.
type failure struct {
	err       error
	text      string
	statement string // the digest of its text, or "" if there was none
	changed   bool   // the class differs from its description
}

// Is lets errors.Is match source.ErrChanged.
func (f *failure) Is(target error) bool { return f.changed && target == source.ErrChanged }

func (f *failure) Error() string {
	if f.statement == "" {
		return f.text
	}
	return f.text + " (statement " + f.statement + ")"
}

// LogText returns the text of Error. Logs omit the text of errors without this method.
func (f *failure) LogText() string { return f.Error() }
func (f *failure) Unwrap() error   { return f.err }

// digest identifies the text of a statement without showing it, because the text can contain names that the caller
// chose. "bailiwick policy explain" and the scope explain show the text of a call. Equal texts have equal digests.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// plainly returns the kind of err without its message. It includes the message of errors about a connection or a
// missing right.
func (e Errors) plainly(err error) string {
	if m, ok := errors.AsType[*mismatch](err); ok {
		return m.text
	}
	if text := e.Plain(err); text != "" {
		return text
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Error()
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, io.ErrUnexpectedEOF, io.EOF, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprintf("an error of the driver (%T)", innermost(err))
}

// ErrorText returns the code of a database error. If the message contains no value, the message follows.
func ErrorText(code, message string, harmless bool) string {
	if !harmless {
		return code
	}
	return code + ": " + strings.ToValidUTF8(message, "\uFFFD")
}

func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

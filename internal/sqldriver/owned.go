package sqldriver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Declare sets the statements that actions of the configuration may run (do: sql). They replace the earlier
// statements. A change identifies its statement by the SHA-256 of its text, because another text under the same name
// wasn't reviewed.
func (w *Writer) Declare(statements []string) {
	known := map[string]string{}
	for _, s := range statements {
		sum := sha256.Sum256([]byte(s))
		known[hex.EncodeToString(sum[:])] = s
	}
	w.statements.Store(&known)
}

// statement returns the statement of an action, and the values of its parameters.
func (w *Writer) statement(it *writes.Item) (statement string, parameters value.Value, err error) {
	asked, ok := it.Write.(*write.Action)
	if !ok {
		return "", parameters, problem.New(problem.Internal, "an action that is none")
	}
	sum, _ := asked.Input.Get("statement")
	parameters, _ = asked.Input.Get("parameters")
	if known := w.statements.Load(); known != nil {
		statement = (*known)[sum.Text()]
	}
	if statement == "" {
		return "", parameters, &problem.Error{Code: problem.Unsupported, Kind: "statement", Detail: "the action " + problem.Cut(asked.Name) + " isn't what it was any more"}
	}
	return statement, parameters, nil
}

// own runs the statement of an action. The application's owner is responsible for its effect. It may write any number
// of records, and the action's own record may no longer exist afterwards.
func (r *run) own(ctx context.Context, it *writes.Item) (after value.Value, rows int64, err error) {
	statement, parameters, err := r.statement(it)
	if err != nil {
		return after, 0, err
	}
	st, err := OwnedStatement(r.db.Dialect(), it.View.Class(), statement, parameters)
	if err != nil {
		return after, 0, err
	}
	if rows, err = r.tx.Exec(ctx, st); err != nil || it.ID == nil {
		return after, rows, err
	}
	after, err = r.record(ctx, it, it.ID, false)
	return after, rows, err
}

// OwnedStatement compiles a statement that the application's owner has written about records of c. If c is nil, it may
// be about any records. In the text, :name is a parameter, which becomes an argument.
func OwnedStatement(d sqlgen.Dialect, c *schema.Class, text string, parameters value.Value) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	if err := t.Owned(text, false, parameters.Get); err != nil {
		return sqlgen.Statement{}, &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "statement", Err: fmt.Errorf("the statement of an action: %w", err)}
	}
	return foreign(t, c, nil)
}

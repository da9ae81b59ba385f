package declared

import (
	"crypto/sha256"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A NativeCheck reads a statement in the own SQL of a source's database, and returns the names of its parameters. Its
// error is a sentence for the owner.
type NativeCheck func(source, statement string) (parameters []string, err error)

// Natives returns the statements in the database's own SQL among declarations, for policy.Rules.
func Natives(declared []Declaration) map[string]policy.NativeRule {
	out := map[string]policy.NativeRule{}
	for _, d := range declared {
		if d.Native != "" {
			out[d.Name] = policy.NativeRule{Source: d.Source, Text: d.Native, Returns: d.Returns}
		}
	}
	return out
}

// Trusted reports whether q is a statement in the database's own SQL. No view applies to it.
func (q *Query) Trusted() bool { return q.Native != "" }

// addParameters evaluates Parameters for who and adds the values to given. It fails if a value is missing or empty. A
// condition on an empty tenant could match records that belong to no tenant.
func (q *Query) addParameters(who identity.Principal, given map[string]value.Value) error {
	for _, p := range q.own {
		v, ok, err := p.Of.Given(&expression.Scene{Who: who})
		if err != nil || !ok || v.IsNull() || v.Kind() == value.String && v.Text() == "" {
			return &problem.Error{Code: problem.PermissionDenied, Kind: "native_parameter", Err: err,
				Detail: "the query " + q.Name + " needs " + p.Name + " of the caller, and this caller has none"}
		}
		given[p.Name] = v
	}
	return nil
}

// parseNative checks the statement and its parameters.
func (b *builder) parseNative() {
	at := []string{"native"}
	if b.Source == "" {
		b.wrong(nil, "needs source, because a statement of its own names no class")
		return
	}
	if b.natives == nil {
		b.wrong(at, "statements of its own can't be checked here")
		return
	}
	names, err := b.natives(b.Source, b.Native)
	if err != nil {
		b.wrong(at, "%v", err)
		return
	}
	over := expression.NewCallCompiler(b.expressions, b.wrong)
	b.own = over.Named(b.Declaration.Parameters, "parameters")
	for _, p := range b.own {
		switch {
		case slices.Contains(b.Arguments(), p.Name):
			b.wrong([]string{"parameters", p.Name}, "input has an argument of this name too. Choose another name")
		case !slices.Contains(names, p.Name):
			b.wrong([]string{"parameters", p.Name}, "the statement doesn't use it. Remove it")
		}
	}
	for _, name := range names {
		if b.argument(name) || slices.ContainsFunc(b.own, func(p expression.NamedTemplate) bool { return p.Name == name }) {
			continue
		}
		b.wrong(at, "neither input nor parameters has %q%s", problem.Cut(name), problem.DidYouMean(problem.Nearest(name, b.Arguments(), 2)))
	}
	b.form = &query.Native{Name: b.Name, Text: sha256.Sum256([]byte(b.Native))}
}

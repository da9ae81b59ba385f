package sqlbind

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// patternText returns the text of a pattern, or Null. The pattern is a constant, or an expression that joins constants
// and parameters. The value of a parameter is known here, so such a pattern is a constant too.
func (b *Binder) patternText(e sqlparse.Expr) (value.Value, error) {
	v, err := b.Constant(e)
	if err == nil {
		return v, nil
	}
	n, bad := b.Alone().Value(e)
	if bad != nil {
		return v, err
	}
	if v, ok := computed(n.Expr); ok {
		return v, nil
	}
	return v, err
}

// longestText is the maximum size of a text that computed makes, in bytes. A pattern is much shorter.
const longestText = 1 << 20

// computed returns the value of an expression over constants, with the functions that patterns need. It returns false for
// other expressions. Package interpret defines the same values.
func computed(x plan.Expr) (v value.Value, ok bool) {
	switch x := x.(type) {
	case plan.Const:
		return x.Value, x.Value.IsNull() || x.Value.Kind() == value.String
	case plan.Convert:
		k, constant := x.X.(plan.Const)
		return value.OfString(k.Value.String()), constant && x.T == schema.String && k.Value.Kind() == value.Int
	case plan.Apply:
		args := make([]value.Value, len(x.Args))
		for i, arg := range x.Args {
			if args[i], ok = computed(arg); !ok {
				return v, false
			}
		}
		return applied(x.Op, args)
	}
	return v, false
}

// applied returns the value of an operator on texts, or false for an operator that patterns don't need.
func applied(op plan.Op, args []value.Value) (v value.Value, ok bool) {
	if op == plan.IfNull {
		if i := slices.IndexFunc(args, func(v value.Value) bool { return !v.IsNull() }); i >= 0 {
			v = args[i]
		}
		return v, true
	}
	if slices.ContainsFunc(args, value.Value.IsNull) {
		return v, true
	}
	texts, size := make([]string, len(args)), 0
	for i, arg := range args {
		texts[i] = arg.Text()
		size += len(texts[i])
	}
	text := texts[0]
	switch {
	case size > longestText:
		return v, false
	case op == plan.Concat:
		text = strings.Join(texts, "")
	case op == plan.Lower:
		text = changeCase(text, 'A', 'a')
	case op == plan.Upper:
		text = changeCase(text, 'a', 'A')
	case op != plan.ReplaceAll || len(text)*len(texts[2]) > longestText:
		return v, false
	case texts[1] != "":
		text = strings.ReplaceAll(text, texts[1], texts[2])
	}
	return value.OfString(text), true
}

// changeCase returns text with the letters of A to Z that begin at from as those that begin at to.
func changeCase(text string, from, to rune) string {
	return strings.Map(func(r rune) rune {
		if r >= from && r < from+26 {
			return r - from + to
		}
		return r
	}, text)
}

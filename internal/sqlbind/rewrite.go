package sqlbind

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// expression returns a constant text as a regular expression. As in PostgreSQL, a dot matches each character, including
// newlines. A pattern without a dot stays unchanged.
func expression(text, options, at string) (query.Regex, error) {
	if strings.Contains(text, ".") {
		text = "(?s:" + text + ")"
	}
	return query.ParseRegex(text, options, at)
}

// rewritten binds regexp_replace, which replaces the first match of an expression in a text. With the flag g, it
// replaces all matches. Only expressions for which every database finds the same matches are accepted.
func rewritten(f *called, a []node) (node, error) {
	x, err := f.Text(&a[0], f.Call.Name)
	if err != nil {
		return node{}, err
	}
	texts := [3]string{}
	for i := range a[1:] {
		k, ok := a[i+1].Expr.(plan.Const)
		if !ok || k.Value.Kind() != value.String {
			return node{}, unsupportedAt(a[i+1].At, "write regexp_replace(x, '[^0-9]+', '', 'g')", "%s takes its expression, its new text and its flags as constant texts", f.Call.Name)
		}
		texts[i] = k.Value.Text()
	}
	if strings.Contains(texts[1], `\`) {
		return node{}, unsupportedAt(a[2].At, "left, right, substr and split_part take parts of a text, and || joins them", "a \\ in the new text would name a part of what is found, which isn't there")
	}
	all, options := strings.Contains(texts[2], "g"), strings.Replace(texts[2], "g", "", 1)
	if options != "" && options != "i" {
		return node{}, unsupportedAt(a[3].At, "write 'g' for every part, 'gi' without regard to case", "%s has the flags g and i", f.Call.Name)
	}
	r, err := expression(texts[0], options, a[1].At)
	if err != nil {
		return node{}, err
	}
	if err := literals.ExactPattern(r.Expression()); err != nil {
		return node{}, unsupportedAt(a[1].At, "split_part, btrim, left, right and replace take parts of a text and put others in their place", "this expression can be tested with ~, but not replaced: %v", err)
	}
	args := []plan.Expr{x, textConst(r.Expression()), textConst(texts[1])}
	if !all {
		args = append(args, plan.Const{Value: value.OfBool(false), T: schema.Boolean})
		f.Known.Note(At(f.place()), "first part", "%s replaces the first part that matches alone. The flag 'g' replaces every one", f.Call.Name)
	}
	return computedOf(applyText(plan.ReplaceMatches, args...), f.place()), nil
}

// textOfList binds array_to_string: the elements of a list as texts, joined by a separator. Nulls are omitted, or
// replaced by the third argument.
func textOfList(f *called, a []node) (node, error) {
	items, err := a[0].Elements(f.Call.Name)
	if err != nil {
		return node{}, err
	}
	separator, ok := a[1].Expr.(plan.Const)
	if !ok || separator.Value.Kind() != value.String || len(separator.Value.Text()) > 32 {
		return node{}, unsupportedAt(a[1].At, "", "%s takes a constant separator of at most 32 bytes", f.Call.Name)
	}
	var ofNull value.Value
	if len(a) == 3 {
		k, ok := a[2].Expr.(plan.Const)
		if !ok {
			return node{}, unsupportedAt(a[2].At, "", "%s takes a constant text for null", f.Call.Name)
		}
		ofNull = k.Value
	}
	return computedOf(joinList(items, a[0].Item(plan.Element{}), separator, ofNull), f.place()), nil
}

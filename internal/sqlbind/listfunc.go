package sqlbind

import (
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ofParts returns the functions that split texts, and the functions that replace a part of a text.
func ofParts() map[string]function {
	return map[string]function{
		"string_to_array": {2, 2, bindStringToArray},
		"substring_index": {3, 3, upToSeparator},
		"overlay":         {3, 4, overlaid(false)}, "insert": {4, 4, overlaid(true)},
		"translate": {3, 3, bindTranslate},
	}
}

// beginning binds list[1:n], the first n elements of a list.
func (b *Binder) beginning(x node, e *sqlparse.Index) (node, error) {
	from, err := b.Constant(e.I)
	if err != nil {
		return node{}, err
	}
	to, err := b.Constant(e.To)
	if err != nil {
		return node{}, err
	}
	first, ok := from.AsInt()
	last, is := to.AsInt()
	if !ok || !is || first != 1 || last < 1 {
		return node{}, unsupportedError(e.At, "list[1:3] is the first three elements, list[2] one of them", "a part of a list begins with element 1")
	}
	items, err := x.Elements("[…]")
	if err != nil {
		return node{}, err
	}
	out := plan.Over{Do: plan.SelectEach, Input: items, Limit: Whole(last), Body: constantly(true)}
	return node{Node: typecheck.Node{Expr: out, List: true}}, nil
}

// separator returns a constant text that isn't empty.
func separator(f *called, x node) (plan.Const, error) {
	k, ok := x.Expr.(plan.Const)
	if !ok || k.Value.Kind() != value.String || k.Value.Text() == "" {
		return k, unsupportedAt(x.At, "write "+f.Call.Name+"(x, ',' …)", "%s takes a constant separator that isn't empty", f.Call.Name)
	}
	return k, nil
}

// bindStringToArray binds string_to_array: the parts of a text between separators. An empty text has no parts.
func bindStringToArray(f *called, a []node) (node, error) {
	x, err := f.Text(&a[0], f.Call.Name)
	if err != nil {
		return node{}, err
	}
	by, err := separator(f, a[1])
	if err != nil {
		return node{}, err
	}
	parts := plan.Case{If: []plan.Expr{Test(plan.Same, x, textConst(""))}, Then: []plan.Expr{plan.List{}},
		Else: plan.Apply{Op: plan.Split, Args: []plan.Expr{x, by}, T: schema.JSON}, T: schema.JSON}
	return node{Node: typecheck.Node{Expr: parts, List: true, At: At(f.place())}}, nil
}

// mostParts is the maximum number of parts for substring_index, because the text is written once for each part.
const mostParts = 4

// upToSeparator binds substring_index: the text before separator n. If n is negative, it is the text after separator
// -n, counted from the end.
func upToSeparator(f *called, a []node) (node, error) {
	x, err := f.Text(&a[0], f.Call.Name)
	if err != nil {
		return node{}, err
	}
	by, err := separator(f, a[1])
	if err != nil {
		return node{}, err
	}
	k, ok := a[2].Expr.(plan.Const)
	n, whole := k.Value.AsInt()
	if !ok || !whole || n < -mostParts || n > mostParts || n == 0 {
		return node{}, unsupportedError(f.place(), "split_part(x, ',', n) is one part", "substring_index takes a constant number of parts, 1 to %d or -1 to -%d", mostParts, mostParts)
	}
	return computedOf(splitParts(x, by, n), f.place()), nil
}

// overlaid binds overlay, which replaces characters of a text by another text. MySQL's insert leaves a text unchanged
// if it has no character at that position.
func overlaid(insert bool) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		if insert {
			a = []node{a[0], a[3], a[1], a[2]}
		}
		x, err := f.Text(&a[0], f.Call.Name)
		if err != nil {
			return node{}, err
		}
		y, err := f.Text(&a[1], f.Call.Name)
		if err != nil {
			return node{}, err
		}
		var numbers []int64
		for _, n := range a[2:] {
			k, ok := n.Expr.(plan.Const)
			v, whole := k.Value.AsInt()
			if !ok || !whole || v < 0 || v > 1<<30 {
				return node{}, unsupportedAt(n.At, "left(x, n) || y || substr(x, m) puts a text together", "%s takes constant whole numbers", f.Call.Name)
			}
			numbers = append(numbers, v)
		}
		if len(a) == 3 {
			k, ok := y.(plan.Const)
			if !ok {
				return node{}, unsupportedAt(a[1].At, "write overlay(x PLACING y FROM n FOR m)", "%s takes the number of characters that are replaced", f.Call.Name)
			}
			numbers = append(numbers, int64(utf8.RuneCountInString(k.Value.Text())))
		}
		if numbers[0] < 1 {
			return node{}, invalid(f.place(), "%s counts characters from 1", f.Call.Name)
		}
		return computedOf(overlayText(x, y, numbers[0], numbers[1], insert), f.place()), nil
	}
}

// bindTranslate binds translate with constant characters as one replacement for each character. It refuses characters
// for which the order of replacements matters.
func bindTranslate(f *called, a []node) (node, error) {
	x, err := f.Text(&a[0], f.Call.Name)
	if err != nil {
		return node{}, err
	}
	var sides [2][]rune
	for i := range sides {
		k, ok := a[i+1].Expr.(plan.Const)
		if !ok || k.Value.Kind() != value.String {
			return node{}, unsupportedAt(a[i+1].At, "replace(x, y, z) replaces a text", "translate takes constant characters")
		}
		sides[i] = []rune(k.Value.Text())
	}
	from, to := sides[0], sides[1]
	if len(from) > 40 {
		return node{}, unsupportedError(f.place(), "regexp_replace(x, '[()]', '', 'g') leaves characters out", "translate takes at most 40 characters")
	}
	seen := ""
	for i, r := range from {
		if strings.ContainsRune(seen, r) { // only the first occurrence counts
			continue
		}
		seen += string(r)
		with := ""
		if i < len(to) {
			with = string(to[i])
		}
		if with != "" && strings.ContainsRune(string(from[i+1:]), to[i]) {
			return node{}, unsupportedError(f.place(), "replace(replace(x, 'a', 'x'), 'b', 'a') replaces texts, one after the other", "translate can't make %q of a character and another character of %q here", with, with)
		}
		x = applyText(plan.ReplaceAll, x, textConst(string(r)), textConst(with))
	}
	return computedOf(x, f.place()), nil
}

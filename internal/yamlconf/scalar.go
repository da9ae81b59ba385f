package yamlconf

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// jsonNumber matches a number in JSON's syntax, the only syntax on which YAML readers agree.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func number(s string) bool { return jsonNumber.MatchString(s) }

// text reads a text and expands the ${…} in it. It returns false after reporting faults.
func (r *Reader) text(n Node, at string) (string, bool) {
	var raw string
	switch y := n.yaml.(type) {
	case *ast.StringNode:
		raw = y.Value
	case *ast.LiteralNode:
		raw = y.Value.Value
	default:
		r.wrongKind(n, at)
		return "", false
	}
	if strings.ContainsRune(raw, 0) {
		r.Wrong(n.Start(), at, "holds the NUL character")
		return "", false
	}
	return r.expand(raw, n, at)
}

// Text returns the shape of a text, which may contain ${NAME} and ${file:path}. The function take returns the fault
// in the text, or "" to accept it. what describes the text in messages: "a URL".
func Text(what string, take func(string) string) Shape {
	return TextOf(what, func(s string) error {
		if complaint := take(s); complaint != "" {
			return errors.New(complaint)
		}
		return nil
	})
}

// TextOf is Text for a function that returns an error. If the error has a method Place() (line, column int), the fault is at
// this place in the text.
func TextOf(what string, take func(string) error) Shape {
	return Shape{Schema: map[string]any{"type": "string", "minLength": 1}, Read: func(r *Reader, n Node, at string) {
		if !n.isText() {
			r.Must(n, at, what)
			return
		}
		s, ok := r.text(n, at)
		if !ok {
			return
		}
		if s == "" {
			r.Wrong(n.Start(), at, "is empty. It must be %s", what)
			return
		}
		if err := take(s); err != nil {
			r.Wrong(n.Start().placeIn(s, err), at, "%s", err.Error())
		}
	}}
}

// Words returns the shape of any text.
func Words(into *string) Shape {
	return Text("text", func(s string) string { *into = s; return "" })
}

// Flag returns the shape of true or false.
func Flag(into *bool) Shape {
	return Shape{Schema: map[string]any{"type": "boolean"}, Read: func(r *Reader, n Node, at string) {
		b, ok := n.yaml.(*ast.BoolNode)
		if !ok {
			r.Must(n, at, "true or false")
			return
		}
		*into = b.Value
	}}
}

// OneOf returns the shape of one of several texts.
func OneOf[T ~string](into *T, values ...T) Shape {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return oneText(names, func(i int) { *into = values[i] })
}

// Choose returns the shape of one of several texts. The text is passed to set.
func Choose(names []string, set func(string)) Shape {
	return oneText(names, func(i int) { set(names[i]) })
}

// integer returns the integer at n, in JSON's syntax. It returns false if n is not an integer.
func integer(n Node) (int64, bool) {
	i, ok := n.yaml.(*ast.IntegerNode)
	if !ok || i.Token.Type != token.IntegerType || !number(i.Token.Value) {
		return 0, false
	}
	v, err := strconv.ParseInt(i.Token.Value, 10, 64)
	return v, err == nil
}

// Count returns the shape of an integer from least to most.
func Count(into *int, least, most int) Shape {
	return Shape{Schema: map[string]any{"type": "integer", "minimum": least, "maximum": most},
		Read: func(r *Reader, n Node, at string) {
			v, ok := integer(n)
			switch {
			case !ok:
				r.Must(n, at, fmt.Sprintf("a whole number from %d to %d", least, most))
			case v < int64(least) || v > int64(most):
				r.Wrong(n.Start(), at, "must be from %d to %d", least, most)
			default:
				*into = int(v)
			}
		}}
}

var sizeText = regexp.MustCompile(`^([0-9]{1,12}) ?(B|KB|MB|GB|KiB|MiB|GiB)$`)

// Size returns the shape of a number of bytes from least to most. It may have a unit: "100 KB" (1,000 bytes each), "1
// MiB".
func Size(into *int, least, most int) Shape {
	units := map[string]int64{"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
	be := fmt.Sprintf("a number of bytes from %d to %d, such as 100 KB or 1 MiB", least, most)
	return Shape{
		Schema: map[string]any{"anyOf": []any{map[string]any{"type": "integer", "minimum": least, "maximum": most}, map[string]any{"type": "string"}}},
		Read: func(r *Reader, n Node, at string) {
			v, ok := integer(n)
			if _, isText := n.yaml.(*ast.StringNode); isText {
				s, readable := r.text(n, at)
				if !readable {
					return
				}
				if m := sizeText.FindStringSubmatch(s); m != nil {
					v, _ = strconv.ParseInt(m[1], 10, 64)
					v, ok = min(v, math.MaxInt32)*units[m[2]], true
				}
			}
			if !ok || v < int64(least) || v > int64(most) {
				r.Wrong(n.Start(), at, "must be %s", be)
				return
			}
			*into = int(v)
		}}
}

// Span returns the shape of a duration from least to most: "30s", "5m", "12h" or "90d".
func Span(into *time.Duration, least, most time.Duration) Shape {
	be := fmt.Sprintf("a duration from %s to %s, such as 30s, 5m, 12h or 90d", short(least), short(most))
	return Text(be, func(s string) string {
		d, ok := duration(s)
		if !ok || d < least || d > most {
			return "must be " + be
		}
		*into = d
		return ""
	})
}

// OrNone returns a shape that reads like s, which writes into into. It replaces an explicit 0 with -1, because the
// zero value means the default.
func OrNone[T ~int | ~int64](into *T, s Shape) Shape {
	return Shape{Schema: s.Schema, Read: func(r *Reader, n Node, at string) {
		before := r.Count()
		if s.Read(r, n, at); *into == 0 && r.Count() == before {
			*into = -1
		}
	}}
}

func duration(s string) (time.Duration, bool) {
	const day = 24 * time.Hour
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * day, err == nil
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

// short formats a duration without the zeros that time.Duration adds.
func short(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

var rateText = regexp.MustCompile(`^([1-9][0-9]{0,6})/(s|min|h)$`)

// Rate returns the shape of a number of calls per time: "20/s", "600/min", "5000/h".
func Rate(calls *int, per *time.Duration) Shape {
	units := map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}
	const be = "a number of calls in a time, such as 20/s, 600/min or 5000/h"
	return Text(be, func(s string) string {
		m := rateText.FindStringSubmatch(s)
		if m == nil {
			return "must be " + be
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return "must be " + be
		}
		*calls, *per = n, units[m[2]]
		return ""
	})
}

var dollarText = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$`)

// Dollars returns the shape of an amount in US dollars above 0 and up to most, with at most six decimals: 3 or 2.50.
// into is set to millionths.
func Dollars(into *int64, most int64) Shape {
	be := fmt.Sprintf("a number of US dollars above 0 and up to %d, with at most six decimals, such as 3 or 2.50", most)
	return Shape{Schema: map[string]any{"type": "number", "exclusiveMinimum": 0, "maximum": most},
		Read: func(r *Reader, n Node, at string) {
			var written string
			switch y := n.yaml.(type) {
			case *ast.IntegerNode:
				written = y.Token.Value
			case *ast.FloatNode:
				written = y.Token.Value
			}
			if written == "" {
				r.Must(n, at, be)
				return
			}
			var v int64
			if m := dollarText.FindStringSubmatch(written); m != nil {
				whole, _ := strconv.ParseInt(m[1], 10, 64) // at most nine digits
				part, _ := strconv.ParseInt((strings.TrimPrefix(m[2], ".") + "000000")[:6], 10, 64)
				v = whole*1_000_000 + part
			}
			if v == 0 || v > most*1_000_000 {
				r.Wrong(n.Start(), at, "must be %s", be)
				return
			}
			*into = v
		}}
}

// Share returns the shape of a fraction from 0 to 1. An explicit 0 sets into to -1, because the zero value means the
// default.
func Share(into *float64) Shape {
	return Shape{Schema: map[string]any{"type": "number", "minimum": 0, "maximum": 1},
		Read: func(r *Reader, n Node, at string) {
			var written string
			switch y := n.yaml.(type) {
			case *ast.IntegerNode:
				written = y.Token.Value
			case *ast.FloatNode:
				written = y.Token.Value
			}
			v, err := strconv.ParseFloat(written, 64)
			switch {
			case err != nil || !jsonNumber.MatchString(written) || v < 0 || v > 1:
				r.Must(n, at, "a number from 0 to 1, such as 0.1")
			case v == 0:
				*into = -1
			default:
				*into = v
			}
		}}
}

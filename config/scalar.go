package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// jsonNumber is a number as JSON writes it: the only way that YAML readers agree about.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func number(s string) bool { return jsonNumber.MatchString(s) }

// text reads a text, with what its ${…} stand for. It reports whether there is one, after noting why not.
func (r *reader) text(n ast.Node, at string) (string, bool) {
	var raw string
	switch n := n.(type) {
	case *ast.StringNode:
		raw = n.Value
	case *ast.LiteralNode:
		raw = n.Value.Value
	default:
		if k := kind(n); k == "a number" || k == "true" || k == "false" {
			r.wrong(start(n), at, "must be text, not %s; put it in quotes", k)
		} else {
			r.must(n, at, "text")
		}
		return "", false
	}
	if strings.ContainsRune(raw, 0) {
		r.wrong(start(n), at, "holds the NUL character")
		return "", false
	}
	return r.expand(raw, n, at)
}

// text is a text that take accepts, or else says what is wrong with. what names it in messages.
func text(what string, take func(string) string) shape {
	return shape{schema: map[string]any{"type": "string", "minLength": 1}, read: func(r *reader, n ast.Node, at string) {
		switch n.(type) {
		case *ast.StringNode, *ast.LiteralNode:
		default:
			r.must(n, at, what)
			return
		}
		s, ok := r.text(n, at)
		if !ok {
			return
		}
		if s == "" {
			r.wrong(start(n), at, "is empty; it must be %s", what)
			return
		}
		if complaint := take(s); complaint != "" {
			r.wrong(start(n), at, "%s", complaint)
		}
	}}
}

// words is any text.
func words(into *string) shape {
	return text("text", func(s string) string { *into = s; return "" })
}

// flag is true or false.
func flag(into *bool) shape {
	return shape{schema: map[string]any{"type": "boolean"}, read: func(r *reader, n ast.Node, at string) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.must(n, at, "true or false")
			return
		}
		*into = b.Value
	}}
}

// integer returns the whole number at n as JSON writes it, and whether there is one.
func integer(n ast.Node) (int64, bool) {
	i, ok := n.(*ast.IntegerNode)
	if !ok || i.Token.Type != token.IntegerType || !number(i.Token.Value) {
		return 0, false
	}
	v, err := strconv.ParseInt(i.Token.Value, 10, 64)
	return v, err == nil
}

// count is a whole number from least to most.
func count(into *int, least, most int) shape {
	return shape{schema: map[string]any{"type": "integer", "minimum": least, "maximum": most},
		read: func(r *reader, n ast.Node, at string) {
			v, ok := integer(n)
			switch {
			case !ok:
				r.must(n, at, fmt.Sprintf("a whole number from %d to %d", least, most))
			case v < int64(least) || v > int64(most):
				r.wrong(start(n), at, "must be from %d to %d", least, most)
			default:
				*into = int(v)
			}
		}}
}

var sizeText = regexp.MustCompile(`^([0-9]{1,12}) ?(B|KB|MB|KiB|MiB)$`)

// size is a number of bytes from least to most, also with a unit: "100 KB" (1,000 bytes each), "1 MiB".
func size(into *int, least, most int) shape {
	units := map[string]int64{"B": 1, "KB": 1e3, "MB": 1e6, "KiB": 1 << 10, "MiB": 1 << 20}
	be := fmt.Sprintf("a number of bytes from %d to %d, such as 100 KB or 1 MiB", least, most)
	return shape{
		schema: map[string]any{"anyOf": []any{map[string]any{"type": "integer", "minimum": least, "maximum": most}, map[string]any{"type": "string"}}},
		read: func(r *reader, n ast.Node, at string) {
			v, ok := integer(n)
			if _, isText := n.(*ast.StringNode); isText {
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
				r.wrong(start(n), at, "must be %s", be)
				return
			}
			*into = int(v)
		}}
}

// span is a duration from least to most: "30s", "5m", "12h" or "90d".
func span(into *time.Duration, least, most time.Duration) shape {
	be := fmt.Sprintf("a duration from %s to %s, such as 30s, 5m, 12h or 90d", short(least), short(most))
	return text(be, func(s string) string {
		d, ok := duration(s)
		if !ok || d < least || d > most {
			return "must be " + be
		}
		*into = d
		return ""
	})
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

// short writes a duration without the zeros that time.Duration adds.
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

// rate is so many calls in so long: "20/s", "600/min", "5000/h".
func rate(into *Rate) shape {
	units := map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}
	const be = "a number of calls in a time, such as 20/s, 600/min or 5000/h"
	return text(be, func(s string) string {
		m := rateText.FindStringSubmatch(s)
		if m == nil {
			return "must be " + be
		}
		calls, err := strconv.Atoi(m[1])
		if err != nil {
			return "must be " + be
		}
		*into = Rate{calls, units[m[2]]}
		return ""
	})
}

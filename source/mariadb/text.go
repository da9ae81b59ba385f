package mariadb

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
)

// regexes returns the syntax of PCRE2. A compiled expression may have 64 KiB. PCRE2 backtracks. After ten million
// steps on a text, it stops and reports no match.
func regexes() sqlgen.RegexSyntax {
	return sqlgen.RegexSyntax{Database: "MariaDB", All: `(?s:.)`, End: `\z`, Escapes: [2]string{`\x{%X}`, `\x{%X}`}, Repeats: 1000, MostParts: 30_000, MostOpen: 4}
}

// Matches implements sqlgen.Dialect.
func (dialect) Matches(s sqlgen.Scope, x string, r query.Regex) (string, error) {
	pattern, err := regexes().Translate(r)
	if err != nil {
		return "", err
	}
	return "COALESCE(" + x + " REGEXP " + s.Arg(pattern, "") + ", 0)", nil
}

// ofText writes the operators on text. It returns "" for other operators.
func (m dialect) ofText(s sqlgen.Scope, e plan.Apply, args []string) string {
	switch e.Op {
	case plan.Concat:
		return "CONCAT(" + strings.Join(args, ", ") + ")"
	case plan.Substr: // the server counts from 1, and accepts no position beyond 64 bits
		x, from, n := s.Atom(args[0]), s.Atom(args[1]), s.Atom(args[2])
		from = "LEAST(" + from + ", 1000000000)"
		return "(CASE WHEN " + from + " >= 0 THEN CASE WHEN " + n + " < 0 THEN SUBSTRING(" + x + ", " + from + " + 1) ELSE SUBSTRING(" + x + ", " + from + " + 1, " +
			"LEAST(" + n + ", 1000000000)) END END)"
	case plan.Lower:
		return m.ascii("LOWER", args[0])
	case plan.Upper:
		return m.ascii("UPPER", args[0])
	case plan.Trim, plan.TrimLeft, plan.TrimRight:
		return m.trimExpr(s, e, args[0])
	case plan.Split:
		separator, _ := e.Args[1].(plan.Const)
		return "CONCAT('[', REGEXP_REPLACE(JSON_QUOTE(" + args[0] + ")" + nopad + ", " + s.Arg(splitter(separator.Value.Text()), "") + `, '","'), ']')`
	case plan.Length:
		return "CHAR_LENGTH(" + args[0] + ")"
	case plan.IndexOf:
		return "(LOCATE(" + args[1] + ", " + args[0] + ") - 1)"
	case plan.ReplaceAll:
		with := s.Atom(args[2]) // the server ignores a null here if nothing is found
		return "(CASE WHEN " + with + " IS NOT NULL THEN REPLACE(" + args[0] + ", " + args[1] + ", " + with + ") END)"
	case plan.Reverse:
		return "REVERSE(" + args[0] + ")"
	case plan.Capitalize: // no replacement here can change the case of a match
		x := m.ascii("LOWER", args[0])
		for c := 'a'; c <= 'z'; c++ {
			x = "REGEXP_REPLACE(" + x + ", '" + behindWord + string(c) + "', '" + string(c-'a'+'A') + "')"
		}
		return x
	}
	return ""
}

// behindWord matches the position before a word in a regular expression.
const behindWord = `(?-i)(?<![^\\x{0}-\\x{2F}\\x{3A}-\\x{40}\\x{5B}-\\x{60}\\x{7B}-\\x{7F}])`

// replaceMatches writes ReplaceMatches. The server replaces all matches. To replace only the first match, the
// expression also matches the text before it, and the replacement keeps that text. It escapes backslashes in the new
// text, which would otherwise refer to groups.
func (dialect) replaceMatches(s sqlgen.Scope, e plan.Apply, x string) (string, error) {
	pattern, with, all := e.Replacement()
	expression, err := regexes().Translate(query.Regex{Pattern: pattern})
	if err != nil {
		return "", err
	}
	with = strings.ReplaceAll(with, `\`, `\\`)
	if !all {
		expression, with = `\A((?s:.*?))(?:`+expression+`)`, `\1`+with
	}
	return "REGEXP_REPLACE(" + x + ", " + s.Arg(expression, "") + ", " + s.Arg(with, "") + ")", nil
}

// ascii changes only the letters A to Z. It reads the bytes of the text in a character set that has all bytes, but no
// other letters with upper and lower case.
func (m dialect) ascii(call, x string) string {
	return m.text("CAST(" + call + "(CONVERT(CAST(" + x + " AS BINARY) USING geostd8)) AS BINARY)")
}

// trimExpr writes Trim, TrimLeft and TrimRight of a constant set of characters. It uses a regular expression, because
// MariaDB's TRIM removes a text instead of characters.
func (dialect) trimExpr(s sqlgen.Scope, e plan.Apply, x string) string {
	characters, _ := e.Args[1].(plan.Const)
	set := escapedText(characters.Value.Text())
	if set == "" {
		return x
	}
	left, right := `\A[`+set+`]+`, `(?<![`+set+`])[`+set+`]+\z` // the look-behind avoids a try at each position of a run
	pattern := left + "|" + right
	switch e.Op {
	case plan.TrimLeft:
		pattern = left
	case plan.TrimRight:
		pattern = right
	}
	return "REGEXP_REPLACE(" + x + ", " + s.Arg(pattern, "") + ", '')"
}

// escapedText returns text with each character escaped for a regular expression, which is also valid inside of
// brackets.
func escapedText(text string) string {
	var b strings.Builder
	for _, r := range text {
		fmt.Fprintf(&b, `\x{%X}`, r)
	}
	return b.String()
}

// splitter returns a pattern for a separator in a text that JSON_QUOTE has quoted. The pattern treats each escape as
// a whole, so that the separator n isn't found in \n.
func splitter(separator string) string {
	var quoted strings.Builder
	for _, r := range separator {
		switch {
		case strings.ContainsRune("\"\\\b\f\n\r\t", r):
			quoted.WriteByte('\\')
			quoted.WriteByte(map[rune]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}[r])
		case r < ' ':
			fmt.Fprintf(&quoted, `\u%04X`, r)
		default:
			quoted.WriteRune(r)
		}
	}
	return escapedText(quoted.String()) + `|(?:\\u[0-9A-F]{4}|\\.)(*SKIP)(*FAIL)`
}

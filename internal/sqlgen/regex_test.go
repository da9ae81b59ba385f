package sqlgen_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
)

const (
	tooLargePG = "refused: the regular expression grows too large for PostgreSQL. Write it shorter"
	tooLargeMy = "refused: the regular expression grows too large for MariaDB. Write it shorter"
	repeatsPG  = "refused: PostgreSQL repeats at most 255 times in a regular expression"
	repeatsMy  = "refused: MariaDB repeats at most 1000 times in a regular expression"
	openMy     = "refused: MariaDB can be asked for at most 4 repetitions such as * and + in a regular expression, not 5"
)

// regexRows are a pattern with options and the expressions for PostgreSQL and MariaDB. Each group is written as (?:…),
// so the result may have parentheses that the pattern hasn't.
var regexRows = []struct{ pattern, options, postgres, mariadb string }{
	// Literal characters. With i, they also match the other cases of a letter: the Kelvin sign is a k.
	{`aZ0`, ``, `aZ0`, `aZ0`},
	{`a.b`, ``, `(?:a[^\n]b)`, `(?:a[^\n]b)`},
	{`-_\.\*`, ``, `\u002D\u005F\u002E\u002A`, `\x{2D}\x{5F}\x{2E}\x{2A}`},
	{"\x7f\u0080", ``, `\u007F\u0080`, `\x{7F}\x{80}`},
	{"é\uffff\U00010000", ``, `\u00E9\uFFFF\U00010000`, `\x{E9}\x{FFFF}\x{10000}`},
	{`\x00`, ``, `\u0000`, `\x{0}`},
	{`k1`, `i`, `[Kk\u212A]1`, `[Kk\x{212A}]1`},
	{`é`, `i`, `[\u00C9\u00E9]`, `[\x{C9}\x{E9}]`},
	{`(?i:a)b`, ``, `(?:[Aa]b)`, `(?:[Aa]b)`},
	{``, ``, `(?:)`, `(?:)`},
	{`()`, ``, `(?:(?:))`, `(?:(?:))`},

	// Any character, and classes as ranges. The shorter of a class and its complement is written. PostgreSQL has no
	// NUL.
	{`(?s).`, ``, `.`, `(?s:.)`},
	{`[a-c]`, ``, `[a-c]`, `[a-c]`},
	{`[ab]`, ``, `[a-b]`, `[a-b]`},
	{`[ac-]`, ``, `[\u002Dac]`, `[\x{2D}ac]`},
	{`\d`, ``, `[0-9]`, `[0-9]`},
	{`\w`, ``, `[0-9A-Z\u005Fa-z]`, `[0-9A-Z\x{5F}a-z]`},
	{`[^a]`, ``, `[^a]`, `[^a]`},
	{`[^a-cx]`, ``, `[^a-cx]`, `[^a-cx]`},
	{`[\x00-b]`, ``, `[\u0001-b]`, `[\x{0}-b]`},
	{`[\x00-\x01z]`, ``, `[\u0001z]`, `[\x{0}-\x{1}z]`},
	{`[\x00z]`, ``, `[\u0000z]`, `[\x{0}z]`},
	{`[\x01-\x{10FFFF}]`, ``, `[\u0001-\U0010FFFF]`, `[\x{1}-\x{10FFFF}]`},
	{`[\x00-\x{10FFFF}]`, ``, `.`, `(?s:.)`},
	{`[\x00-\x{10FFFF}]a`, ``, `(?:.a)`, `(?:(?s:.)a)`},
	{`[^\x00-\x{10FFFF}]`, ``, `(?!)`, `(?!)`},

	// Positions in the text. With m, a line ends before each newline. In no database does $ mean exactly this.
	{`^a$`, ``, `(?:\Aa\Z)`, `(?:\Aa\z)`},
	{`^a$`, `m`, `(?:(?:\A|(?<=\n))a(?:\Z|(?=\n)))`, `(?:(?:\A|(?<=\n))a(?:\z|(?=\n)))`},
	{`\ba`, ``, `(?:(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))a)`,
		`(?:(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))a)`},
	{`a\B`, ``, `(?:a(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_])))`,
		`(?:a(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_])))`},

	// Concatenation and repetition. Lazy and greedy repetitions match the same texts.
	{`ab|cd|ef`, ``, `(?:ab|cd|ef)`, `(?:ab|cd|ef)`},
	{`(ab)c`, ``, `(?:(?:ab)c)`, `(?:(?:ab)c)`},
	{`a*`, ``, `(?:a)*`, `(?:a)*`},
	{`a+?`, ``, `(?:a)+`, `(?:a)+`},
	{`(?:ab)?`, ``, `(?:ab)?`, `(?:ab)?`},
	{`a{2}`, ``, `(?:a){2}`, `(?:a){2}`},
	{`a{2,}`, ``, `(?:a){2,}`, `(?:a){2,}`},
	{`a{0,3}`, ``, `(?:a){0,3}`, `(?:a){0,3}`},
	{`a{0}`, ``, `(?:a){0}`, `(?:a){0}`},

	// Expressions that a database can't evaluate, or that would take too long.
	{`a{255}`, ``, `(?:a){255}`, `(?:a){255}`},
	{`a{256}`, ``, repeatsPG, `(?:a){256}`},
	{`a{256,}`, ``, repeatsPG, `(?:a){256,}`},
	{`a{1,256}`, ``, repeatsPG, `(?:a){1,256}`},
	{`b(a{256})`, ``, repeatsPG, `(?:b(?:(?:a){256}))`},
	{`(?:(?:a{256}))?`, ``, repeatsPG, `(?:(?:a){256})?`},
	{`a{714}`, ``, repeatsPG, `(?:a){714}`},
	{`a{715}`, ``, repeatsPG, tooLargeMy},
	{`a{294}`, `i`, repeatsPG, `(?:[Aa]){294}`},
	{`a{295}`, `i`, repeatsPG, tooLargeMy},
	{`[ab]{326}`, ``, repeatsPG, `(?:[a-b]){326}`},
	{`[ab]{327}`, ``, repeatsPG, tooLargeMy},
	{`[ab]{267}`, `i`, repeatsPG, `(?:[A-Ba-b]){267}`},
	{`[ab]{268}`, `i`, repeatsPG, tooLargeMy},
	{`(?:a{20}){20}`, ``, `(?:(?:a){20}){20}`, `(?:(?:a){20}){20}`},
	{`(?:a{20}){36}`, ``, `(?:(?:a){20}){36}`, tooLargeMy},
	{`a*b*c*d*`, ``, `(?:(?:a)*(?:b)*(?:c)*(?:d)*)`, `(?:(?:a)*(?:b)*(?:c)*(?:d)*)`},
	{`a*b+c{2,}d{0,9}e*`, ``, `(?:(?:a)*(?:b)+(?:c){2,}(?:d){0,9}(?:e)*)`, openMy},
	{`a*b+c{2,}d{0,9}e{0,8}`, ``, `(?:(?:a)*(?:b)+(?:c){2,}(?:d){0,9}(?:e){0,8})`, `(?:(?:a)*(?:b)+(?:c){2,}(?:d){0,9}(?:e){0,8})`},
	{`a*b*c*d*e?f{7}`, ``, `(?:(?:a)*(?:b)*(?:c)*(?:d)*(?:e)?(?:f){7})`, `(?:(?:a)*(?:b)*(?:c)*(?:d)*(?:e)?(?:f){7})`},
	{`a*b*c*d*(?:f{3,3})`, ``, `(?:(?:a)*(?:b)*(?:c)*(?:d)*(?:f){3})`, `(?:(?:a)*(?:b)*(?:c)*(?:d)*(?:f){3})`},
	{`(a*)(b*)|(c*)(d*)|e*`, ``, `(?:(?:(?:(?:a)*)(?:(?:b)*))|(?:(?:(?:c)*)(?:(?:d)*))|(?:e)*)`, openMy},
	{strings.Repeat(`é`, 170) + strings.Repeat(`a`, 86), ``, strings.Repeat(`\u00E9`, 170) + strings.Repeat(`a`, 86), strings.Repeat(`\x{E9}`, 170) + strings.Repeat(`a`, 86)},
	{`\pL`, ``, tooLargePG, tooLargeMy},
}

// TestTranslate shows translated expressions side by side.
func TestTranslate(t *testing.T) {
	for _, tt := range regexRows {
		r, err := query.ParseRegex(tt.pattern, tt.options, "")
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		pg, maria := translated(regex(postgres.Dialect(), r)), translated(regex(mariadb.Dialect(), r))
		if pg != tt.postgres || maria != tt.mariadb {
			t.Errorf("%s %s\n got %s\n     %s\nwant %s\n     %s", tt.pattern, tt.options, pg, maria, tt.postgres, tt.mariadb)
		}
	}
}

// TestUnchecked expects an error for expressions that query.ParseRegex refuses.
func TestUnchecked(t *testing.T) {
	if text, err := regex(postgres.Dialect(), query.Regex{Pattern: "("}); err == nil || text != "" {
		t.Errorf("%q, %v", text, err)
	}
}

// regex returns an expression as a dialect writes it in a condition.
func regex(d sqlgen.Dialect, r query.Regex) (string, error) {
	var w sqlgen.Writer
	if err := d.MatchText(&w, sqlgen.Operand{Text: "x", Field: &schema.Field{Type: schema.String, Native: "text"}}, r); err != nil {
		return "", err
	}
	_, args, err := w.Statement(d, sqlgen.MaxText)
	if err != nil {
		return "", err
	}
	return args[0].(string), nil
}

func translated(text string, err error) string {
	if err == nil {
		return text
	}
	if problem.CodeOf(err) != problem.Unsupported || text != "" {
		return "not refused: " + text + err.Error()
	}
	return "refused: " + problem.Of(err).Detail
}

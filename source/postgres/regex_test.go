package postgres_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"
)

// regexTexts are the texts that expressions are matched against.
var regexTexts = []string{"", "a", "A", "b", "ab", "abc", "aab", "aaaa", "ABC", "aBc", "apple pie", "foo.bar", "foo bar", "foo\nbar", "\n", "\nfoo", "foo\n",
	"\r\n", "\t", " ", "  a  ", "a b c", "x1y22z333", "0123456789", "_", "a_b", "a-b", "a.b", "a\\b", `"q"`, "it's", "100%", "$1", "^a$", "(a)", "[a]", "{1}", "a|b", "*+?",
	"é", "É", "e\u0301", "ß", "ẞ", "SS", "ſ", "s", "S", "k", "K", "\u212a", "ı", "i", "I", "İ", "ς", "σ", "Σ", "µ", "μ", "ö", "Ö", "日本語", "日本", "\u00a0", "\u2028", "\u200b",
	"😀", "a😀b", "\U0001D4B3", "\U0010FFFF", "\uffff", "\u0001", "\u007f", "\u0080", "ÿ", "Ÿ", "ǅ", "Ǆ", "ǆ", "θ", "ϴ", "ϑ", "1", "٣", "Ⅷ", "ⅷ", "a\n\nb", "line1\nline2\nline3",
	"user@example.com", "2026-01-31", "192.168.0.1", "aa bb", "The end.", "\v\f", "]", "[", "-", "^", "a]b", "x-y", "foofoo", "barfoo", "-_-"}

// regexCorpus contains regular expressions.
var regexCorpus = []string{"", "a", "abc", "^a", "a$", "^a$", "^$", "^", "$", "a|b", "^(a|b)+$", "(ab)?c", "a*", "a+", "a?", "a*?b", "a+?", "a??b", "^a{2}$", "^a{2,}$", "a{2,3}?",
	"^a{0}$", "^.{3}$", ".", "^.$", "^.*$", "(?s)^.*$", "(?s)foo.bar", "foo.bar", `foo\.bar`, `foo\sbar`, `\s`, `^\s+$`, `\S`, `^\S+$`, `\d`, `^\d+$`, `\D`, `^\D$`, `\w`, `^\w+$`, `\W`, `^\W$`,
	`\bfoo\b`, `\bb`, `b\b`, `\Bo`, `o\B`, `\B`, `\b`, `^\B$`, `\b😀`, `é\b`, `\Aa`, `a\z`, `(?m)^foo$`, `(?m)^bar`, `(?m)foo$`, `(?m)^$`, `(?m)line2$`, `(?m)^line\d$`, `\Afoo`, `foo\z`, `(?m)\Abar`, `(?m)foo\z`,
	"[a-c]", "^[a-c]+$", "[^a-c]", "^[^a-c]+$", "[^a]", "[]]", "[^]]", "[-a]", "[a-]", `[\]\[]`, `[\^]`, `[a\-z]`, `[\d.]`, `^[\w.]+$`, `[^\d]`, `[^\s]`, `[\s\S]`, `^[\s\S]$`, `[^\s\S]`, `[[:alpha:]]`, `^[[:upper:]]+$`, `[[:^alpha:]]`,
	`[[:space:]]`, `[[:word:]]`, `[[:punct:]]`, `^[[:alnum:]]+$`, `\pL`, `^\pL+$`, `\p{Lu}`, `\p{Greek}`, `\P{Latin}`, `^\p{Han}+$`, `\pN`, `\p{Nd}`, `\PL`, `\x{1F600}`, `\x41`, `[\x{1F600}-\x{1F64F}]`, `[^\x00-\x7f]`, `[\x00-\x1f]`, `\x00`, `[\x00z]`, `[^\x00z]`,
	`\n`, `\t`, `\r`, `\f`, `\v`, `\a`, `\x07`, `\\`, `\$`, `\^`, `\|`, `\(a\)`, `\[a\]`, `\{1\}`, `\*\+\?`, `\.`, `\Q.*\E`, `\Qa|b\E`, "(?i)abc", "(?i)ß", "(?i)σ", "(?i)k", "(?i)s", "(?i)ſ", "(?i)i", "(?i)İ", "(?i)ı", "(?i)µ", "(?i)ǆ", "(?i)θ",
	"(?i)[a-c]+$", "(?i)[^a]", "(?i)[k]", "(?i)[σ]", "(?i)É", "(?i:A)b", "(?i:a)B", "a(?i)B", "(?i)a(?-i)B", "(?U)a+b", "(?P<name>a)b", "(?:a|b)c", "(?:)", "a(?:)b", "(a|)", "(|a)b", "x{0,2}$", "()", "(^a|b$)", "a^", "$a", "(?m)a$\n^b",
	`^[^@]+@[^@]+\.[a-z]{2,}$`, `^\d{4}-\d{2}-\d{2}$`, `^(\d{1,3}\.){3}\d{1,3}$`, "日", "^日本", "[日本]+語", "é", "e\u0301", "a.c", "f.o", `o{2}`, "(foo|bar){2}", "(foo){2}", "😀", "a😀", "[😀]", "^[^😀]+$", `\C{0}`,
	"{", "}", "a{,2}", "a{x", "a b", "'", `"`, "%", "#", "***:a", "***=a", "(?i)***", "[[.a.]]", "[[=a=]]", `\y`, `\m`, "ab|", "a||b", "^*", "(?:^)*a", "(?:a*)", "a{1}{2}", "[a-z&&[b]]", `[\pL\d]+$`, `[^\pL]`, `\PN$`, "ẞ", "(?i)ẞ", "Ⅷ", "(?i)ⅷ"}

// A regexServer finds the texts that an expression matches in PostgreSQL.
type regexServer struct {
	conn   *pgx.Conn
	policy *policy.Policy
	texts  []string
}

func newRegexServer(t *testing.T, texts []string) *regexServer {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), services.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), `CREATE TABLE texts (id bigint PRIMARY KEY, s text)`); err != nil {
		t.Fatal(err)
	}
	for i, s := range texts {
		if _, err := conn.Exec(t.Context(), `INSERT INTO texts VALUES ($1, $2)`, i, s); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "app", Name: "texts", Table: "texts", Key: []string{"id"}, Fields: []schema.Field{
		{Name: "id", Type: schema.Integer, Native: "int8", NotNull: true}, {Name: "s", Type: schema.String, Native: "text"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return &regexServer{conn, p, texts}
}

// matching compiles an expression as a where object does. parsed is false if the query language rejects the
// expression.
func (s *regexServer) matching(ctx context.Context, expression, options string) (matched map[int64]bool, parsed bool, err error) {
	object := value.OfObject([]value.Member{{Name: "s", Value: value.OfObject([]value.Member{
		{Name: "$regex", Value: value.OfString(expression)}, {Name: "$options", Value: value.OfString(options)}})}})
	filter, err := query.ParseWhere(object, "")
	if err != nil {
		return nil, false, nil
	}
	permit, err := s.policy.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "texts", Where: filter, Keys: []query.Path{{"id"}}, Limit: 1000})
	if err != nil {
		return nil, false, err
	}
	st, err := sqlgen.SQL(permit, postgres.Dialect())
	if problem.CodeOf(err) == problem.Unsupported {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	rows, err := s.conn.Query(ctx, st.Text, st.Args...)
	if err != nil {
		return nil, true, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	matched = map[int64]bool{}
	for _, id := range ids {
		matched[id] = true
	}
	if err != nil {
		err = fmt.Errorf("%w as %q", err, st.Args[0])
	}
	return matched, true, err
}

// differences lists the texts on which PostgreSQL and Go's regexp differ, or "".
func (s *regexServer) differences(ctx context.Context, expression, options string) (text string, compared bool, err error) {
	got, parsed, err := s.matching(ctx, expression, options)
	if err != nil || !parsed {
		return "", false, err
	}
	whole := expression
	if options != "" {
		whole = "(?" + options + ")" + expression
	}
	re, err := regexp.Compile(whole)
	if err != nil {
		return "", false, err
	}
	var differ []string
	for i, text := range s.texts {
		if want := re.MatchString(text); got[int64(i)] != want {
			differ = append(differ, fmt.Sprintf("%q: %v, want %v", text, got[int64(i)], want))
		}
	}
	return strings.Join(differ, "; "), true, nil
}

// TestPostgresRegex checks that every expression matches the same texts in PostgreSQL and in Go.
func TestPostgresRegex(t *testing.T) {
	s := newRegexServer(t, regexTexts)
	compared := 0
	for _, expression := range regexCorpus {
		for _, options := range []string{"", "i", "m", "im"} {
			differ, ok, err := s.differences(t.Context(), expression, options)
			if err != nil || differ != "" {
				t.Errorf("%q %q: %v %s", expression, options, err, differ)
			}
			if ok {
				compared++
			}
		}
	}
	if all := 4 * len(regexCorpus); compared < all*9/10 {
		t.Errorf("only %d of %d expressions could be compared", compared, all)
	}
}

// TestPostgresRegexRandom is like TestPostgresRegex, with random expressions.
func TestPostgresRegexRandom(t *testing.T) {
	s := newRegexServer(t, regexTexts)
	atoms := []string{"a", "b", "A", ".", "^", "$", `\b`, `\B`, `\d`, `\w`, `\s`, `\W`, "[a-c]", "[^a]", "[^a-c\n]", "é", "σ", "k", "(?i)s", "(?m)^", "(?m)$", `\n`, "😀", `\pL`, "(?s).", "(a|b)", "(ab|)", "(?:a|^)", "(?:$|b)", " ", "o"}
	counts := []string{"", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}", "{2,}"}
	asked, compared := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "length") {
			b.WriteString(rapid.SampledFrom(atoms).Draw(t, "atom"))
			b.WriteString(rapid.SampledFrom(counts).Draw(t, "count"))
			b.WriteString(rapid.SampledFrom([]string{"", "", "", "", "|"}).Draw(t, "or"))
		}
		options := rapid.SampledFrom([]string{"", "i", "m"}).Draw(t, "options")
		differ, ok, err := s.differences(t.Context(), b.String(), options)
		if err != nil || differ != "" {
			t.Fatalf("%q %q: %v %s", b.String(), options, err, differ)
		}
		if asked++; ok {
			compared++
		}
	})
	if compared < asked/3 {
		t.Errorf("only %d of %d expressions could be compared", compared, asked)
	}
}

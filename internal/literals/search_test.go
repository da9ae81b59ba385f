package literals

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/problem"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text           string
		terms, without []string
		detail         string
	}{
		{text: "crash", terms: []string{"crash"}},
		{text: "  crash\tlog-in\n", terms: []string{"crash", "log-in"}},
		{text: `"out of memory" crash`, terms: []string{"out of memory", "crash"}},
		{text: `crash -login -"blue screen"`, terms: []string{"crash"}, without: []string{"login", "blue screen"}},
		{text: `a"b c"d`, terms: []string{"a", "b c", "d"}},
		{text: `"never closed`, terms: []string{"never closed"}},
		{text: `"" - -- * ( ) : ^ + crash`, terms: []string{"crash"}},
		{text: `title:crash* OR NEAR(a, b)`, terms: []string{"title:crash*", "OR", "NEAR(a,", "b)"}},
		{text: "it's {a} : x' OR 1=1 --", terms: []string{"it's", "{a}", "x'", "OR", "1=1"}},
		{text: "é ß 日本 ٣", terms: []string{"é", "ß", "日本", "٣"}},
		{text: "", detail: `query has no word to find. It takes words, "phrases" and -words to leave out`},
		{text: `-login`, detail: `query has no word to find. It takes words, "phrases" and -words to leave out`},
		{text: "!!! ''", detail: `query has no word to find. It takes words, "phrases" and -words to leave out`},
		{text: strings.Repeat("a ", 17), detail: "query has at most 16 words and phrases, got 17"},
		{text: strings.Repeat("a", 401), detail: "query has at most 400 bytes, got 401"},
	} {
		q, err := ParseSearch(tt.text, "/query")
		if tt.detail != "" {
			var p *problem.Error
			if !errors.As(err, &p) || p.Code != problem.InvalidArgument || p.Pointer != "/query" || p.Detail != tt.detail {
				t.Errorf("%q: %v, want %s", tt.text, err, tt.detail)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if d := cmp.Diff(&Search{Terms: tt.terms, Without: tt.without}, q); d != "" {
			t.Errorf("%q: %s", tt.text, d)
		}
	}
}

func TestWords(t *testing.T) {
	if d := cmp.Diff([]string{"it", "s", "2nd", "crash", "É", "日本"}, SearchWords("It's (2nd) CRASH-É 日本!")); d != "" {
		t.Error(d)
	}
}

// FuzzParse checks that no input causes a panic, and that a query always has terms.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`a "b c" -d`, `-"`, `"`, "\x00", "-- -a", "a\"\"b", "\xff-\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := ParseSearch(s, "")
		if err != nil {
			return
		}
		for _, term := range append(q.Terms, q.Without...) {
			if len(SearchWords(term)) == 0 || strings.Contains(term, `"`) || strings.ContainsRune(term, 0) {
				t.Errorf("%q gives the term %q", s, term)
			}
		}
	})
}

package samples

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Seen counts the sampled values of a field that aren't null, false or empty.
type Seen struct {
	Values   int // all of them
	Distinct int // without repetitions
	Secrets  int // those that look like credentials
	Likely   int // those of Secrets that have no form of their own: a part looks random, or has the name of a credential before it
	Guesses  int // the distinct ones of Likely
	Random   int // those that look like keys or hashes of no known form
	Mails    int // those that are e-mail addresses
	Phones   int // those that are telephone numbers
	Prose    int // those of several words
	JSON     int // texts of a JSON object or list
	Decimals int // texts of a number with a decimal point
	Seconds  int // integers that count seconds since 1970, to this century
	Millis   int // integers that count milliseconds since 1970, to this century

	// Inside counts, by pattern, the texts with personal data inside of them. Only a Tally with Personal counts them.
	Inside [patterns]int
}

// patterns is the number of patterns of personal data inside of texts.
const patterns = 6

// Patterns returns the patterns of personal data that values have inside of them.
func (s Seen) Patterns() []plan.Pattern {
	var out []plan.Pattern
	for i, p := range plan.AllPatterns() {
		if s.Inside[i] > 0 {
			out = append(out, p)
		}
	}
	return out
}

// A Tally counts the values of one field.
type Tally struct {
	Personal bool // personal data inside of texts is counted as well, which takes time

	seen   Seen
	values map[string]Seen // the counts of each distinct value
	cut    int             // values that were too long to be read
}

var (
	mail    = regexp.MustCompile(`^[^\s@<>]+@[^\s@<>]+\.[a-zA-Z]{2,}$`)
	decimal = regexp.MustCompile(`^-?\d{1,15}\.\d{1,6}$`)
	phone   = regexp.MustCompile(`^\+\d[\d ()./-]{7,18}$|^\(?0\d{1,4}\)?[ /-][\d ()./-]{5,14}$`)
)

// The most bytes of an address, and of a number that somebody can be called at.
const (
	longestMail  = 320
	longestPhone = 40
)

// Add counts one value.
func (t *Tally) Add(v value.Value) {
	text := v.Text()
	switch v.Kind() {
	case value.Cut:
		t.cut++
		return
	case value.Array, value.Object:
		text = v.String()
	case value.Bytes:
		if !utf8.ValidString(text) { // keys and hashes are short, files are not
			t.count(text, func(one *Seen) { one.Random = number(len(text) >= 16 && len(text) <= 128) })
			return
		}
	case value.Int, value.Decimal, value.Float:
		text = v.String()
	}
	if text = strings.TrimSpace(text); text != "" {
		t.count(text, func(one *Seen) {
			one.look(v, text)
			if t.Personal && v.Kind() != value.Int && v.Kind() != value.Decimal && v.Kind() != value.Float {
				one.inside(text)
			}
		})
	}
}

// count counts a value, given as text. look judges it, once for equal texts. Only t.values keeps values.
func (t *Tally) count(text string, look func(one *Seen)) {
	one, known := t.values[text]
	if !known {
		one.Values = 1
		look(&one)
		if t.values == nil {
			t.values = map[string]Seen{}
		}
		t.seen.Guesses += one.Likely
		t.values[text] = one
	}
	for _, n := range [][2]*int{{&t.seen.Values, &one.Values}, {&t.seen.Secrets, &one.Secrets}, {&t.seen.Likely, &one.Likely}, {&t.seen.Random, &one.Random}, {&t.seen.Mails, &one.Mails}, {&t.seen.Phones, &one.Phones},
		{&t.seen.Prose, &one.Prose}, {&t.seen.JSON, &one.JSON}, {&t.seen.Decimals, &one.Decimals}, {&t.seen.Seconds, &one.Seconds}, {&t.seen.Millis, &one.Millis}} {
		*n[0] += *n[1]
	}
	for i, n := range one.Inside {
		t.seen.Inside[i] += n
	}
}

// inside sets which personal data text has inside of it.
func (s *Seen) inside(text string) {
	found := plan.MatchPatterns(text)
	for i, p := range plan.AllPatterns() {
		s.Inside[i] = number(slices.Contains(found, p))
	}
}

// look sets the counts for one value v, whose text isn't empty.
func (s *Seen) look(v value.Value, text string) {
	verdict := secretnames.Judge(text)
	s.Secrets, s.Likely, s.Random = number(verdict != secretnames.Harmless), number(verdict == secretnames.Likely), number(secretnames.Random(text))
	s.Mails = number(len(text) <= longestMail && mail.MatchString(text))
	s.Phones = number(len(text) <= longestPhone && phone.MatchString(text))
	if v.Kind() == value.String {
		if text[0] == '{' || text[0] == '[' {
			read, err := value.Read([]byte(text), 0)
			s.JSON = number(err == nil && (read.Kind() == value.Object || read.Kind() == value.Array))
		}
		s.Decimals = number(len(text) <= longestPhone && decimal.MatchString(text))
	}
	if v.Kind() == value.Int {
		const first, last = 946684800, 4102444800 // 2000 to 2100
		s.Seconds = number(v.Int() >= first && v.Int() < last)
		s.Millis = number(v.Int() >= first*1000 && v.Int() < last*1000)
	}
	s.Prose = number(strings.Count(text, " ") > 3 && text[0] != '{' && text[0] != '[')
}

// number returns 1 for true.
func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Counts returns the counts of the values seen.
func (t *Tally) Counts() Seen {
	t.seen.Distinct = len(t.values)
	return t.seen
}

// checksums lists words in names of fields whose values look random and are not secrets.
var checksums = []string{"sha", "sha1", "sha256", "sha512", "md5", "checksum", "etag", "commit", "blurhash", "fingerprint", "uuid", "guid", "ulid", "cid", "oid", "slug", "path",
	"url", "uri", "file", "filename", "version", "revision", "id", "ids", "ref", "reference", "number", "code", "sku", "ean", "isbn"}

// Identifies reports whether the name of f is one of a field that identifies a thing: an address, a file, a code.
func Identifies(f *schema.Field) bool {
	words := secretnames.Words(f.Name)
	return slices.Contains(checksums, words[len(words)-1])
}

// Secret returns why the values of f should be hidden, or "" for no reason. One value of a form that only credentials
// have is enough. Of values that merely look like one, it takes two different ones, or a fifth of all. Among texts of
// people it takes a fifth of all in any case, so that a token in one comment doesn't hide the comments.
func (s Seen) Secret(f *schema.Field) string {
	many, prose := s.Secrets*5 >= s.Values, s.Prose*2 >= s.Values
	switch {
	case s.Secrets > 0 && (many || !prose && (s.Secrets > s.Likely || s.Guesses > 1)):
		return fmt.Sprintf("%d of %d sampled values look like credentials", s.Secrets, s.Values)
	case s.Random > 0 && s.Random*5 >= s.Values*4 && s.Distinct*2 > s.Values && !Identifies(f):
		return fmt.Sprintf("%d of %d sampled values look like keys or hashes", s.Random, s.Values)
	}
	return ""
}

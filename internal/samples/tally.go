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

// Seen counts the sampled values of a field, except null, false and empty values.
type Seen struct {
	Values   int // all values
	Distinct int // distinct values
	Secrets  int // values that look like credentials
	Likely   int // the part of Secrets without a known form: a part looks random or follows the name of a credential
	Guesses  int // distinct values in Likely
	Random   int // values that look like keys or hashes of an unknown form
	Mails    int // e-mail addresses
	Phones   int // telephone numbers
	Prose    int // texts of several words
	JSON     int // texts that are a JSON object or list
	Decimals int // texts that are a number with a decimal point
	Seconds  int // integers that are seconds since 1970 in this century
	Millis   int // integers that are milliseconds since 1970 in this century

	// Inside counts the texts that contain personal data, by pattern. It is set only if Tally.Personal is set.
	Inside [patterns]int
}

// patterns is the number of patterns of personal data.
const patterns = 6

// Patterns returns the patterns of personal data that occur in the values.
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
	Personal bool // also count personal data within texts, which is slow

	seen   Seen
	values map[string]Seen // the counts of each distinct value
	cut    int             // number of values that were too long to read
}

var (
	mail    = regexp.MustCompile(`^[^\s@<>]+@[^\s@<>]+\.[a-zA-Z]{2,}$`)
	decimal = regexp.MustCompile(`^-?\d{1,15}\.\d{1,6}$`)
	phone   = regexp.MustCompile(`^\+\d[\d ()./-]{7,18}$|^\(?0\d{1,4}\)?[ /-][\d ()./-]{5,14}$`)
)

// Maximum bytes of an e-mail address and of a telephone number.
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
		if !utf8.ValidString(text) { // keys and hashes are short, but files are not
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

// count counts a value, given as text. It calls look once for equal texts. Only t.values stores values.
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

// inside sets the patterns of personal data that text contains.
func (s *Seen) inside(text string) {
	found := plan.MatchPatterns(text)
	for i, p := range plan.AllPatterns() {
		s.Inside[i] = number(slices.Contains(found, p))
	}
}

// look sets the counts for one value. Its text must not be empty.
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
		const first, last = 946684800, 4102444800 // years 2000 to 2100
		s.Seconds = number(v.Int() >= first && v.Int() < last)
		s.Millis = number(v.Int() >= first*1000 && v.Int() < last*1000)
	}
	s.Prose = number(strings.Count(text, " ") > 3 && text[0] != '{' && text[0] != '[')
}

// number returns 1 for true and 0 for false.
func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Counts returns the counts so far.
func (t *Tally) Counts() Seen {
	t.seen.Distinct = len(t.values)
	return t.seen
}

// checksums lists words in names of fields whose values look random but are not secret.
var checksums = []string{"sha", "sha1", "sha256", "sha512", "md5", "checksum", "etag", "commit", "blurhash", "fingerprint", "uuid", "guid", "ulid", "cid", "oid", "slug", "path",
	"url", "uri", "file", "filename", "version", "revision", "id", "ids", "ref", "reference", "number", "code", "sku", "ean", "isbn"}

// Identifies reports whether the name of f suggests an identifier, such as an address, a file or a code.
func Identifies(f *schema.Field) bool {
	words := secretnames.Words(f.Name)
	return slices.Contains(checksums, words[len(words)-1])
}

// Secret returns the reason why the values of f should be hidden, or "". One value in a form that only credentials
// have is enough. Values that only look like credentials must be two different ones, or a fifth of all values. In
// texts written by people they must always be a fifth of all values, so that one token in a comment doesn't hide all
// comments.
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

package samples

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Seen counts the sampled values of a field that aren't null, false or empty.
type Seen struct {
	Values   int // all of them
	Distinct int // without repetitions
	Secrets  int // those that look like credentials
	Random   int // those that look like keys or hashes of no known form
	Mails    int // those that are e-mail addresses
	Phones   int // those that are telephone numbers
	Prose    int // those of several words
	JSON     int // texts of a JSON object or list
	Decimals int // texts of a number with a decimal point
	Seconds  int // integers that count seconds since 1970, to this century
	Millis   int // integers that count milliseconds since 1970, to this century
}

// A Tally counts the values of one field.
type Tally struct {
	seen   Seen
	values map[string]Seen // what each distinct value looks like
	cut    int             // values that were too long to be read
}

var (
	mail    = regexp.MustCompile(`^[^\s@<>]+@[^\s@<>]+\.[a-zA-Z]{2,}$`)
	decimal = regexp.MustCompile(`^-?\d{1,15}\.\d{1,6}$`)
	phone   = regexp.MustCompile(`^\+\d[\d ()./-]{7,18}$|^\(?0\d{1,4}\)?[ /-][\d ()./-]{5,14}$`)
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
		t.count(text, func(one *Seen) { one.look(v, text) })
	}
}

// count counts a value, given as text. look finds what it looks like, once for equal texts. None is kept but in t.values.
func (t *Tally) count(text string, look func(one *Seen)) {
	one, known := t.values[text]
	if !known {
		one.Values = 1
		look(&one)
		if t.values == nil {
			t.values = map[string]Seen{}
		}
		t.values[text] = one
	}
	for _, n := range [][2]*int{{&t.seen.Values, &one.Values}, {&t.seen.Secrets, &one.Secrets}, {&t.seen.Random, &one.Random}, {&t.seen.Mails, &one.Mails}, {&t.seen.Phones, &one.Phones},
		{&t.seen.Prose, &one.Prose}, {&t.seen.JSON, &one.JSON}, {&t.seen.Decimals, &one.Decimals}, {&t.seen.Seconds, &one.Seconds}, {&t.seen.Millis, &one.Millis}} {
		*n[0] += *n[1]
	}
}

// look sets what v, whose text isn't empty, looks like.
func (s *Seen) look(v value.Value, text string) {
	s.Secrets, s.Random = number(denylist.Value(text)), number(denylist.Random(text))
	s.Mails, s.Phones = number(mail.MatchString(text)), number(phone.MatchString(text))
	if v.Kind() == value.String {
		read, err := value.Read([]byte(text), 0)
		s.JSON = number(err == nil && (read.Kind() == value.Object || read.Kind() == value.Array))
		s.Decimals = number(decimal.MatchString(text))
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

// Seen returns the counts.
func (t *Tally) Seen() Seen {
	t.seen.Distinct = len(t.values)
	return t.seen
}

// checksums lists words in names of fields whose values look random and are no secrets.
var checksums = []string{"sha", "sha1", "sha256", "sha512", "md5", "checksum", "etag", "commit", "blurhash", "fingerprint", "uuid", "guid", "ulid", "cid", "oid", "slug", "path",
	"url", "uri", "file", "filename", "version", "revision", "id", "ids", "ref", "reference", "number", "code", "sku", "ean", "isbn"}

// Secret returns why the values of f should be hidden; "" for no reason. One credential among texts of people is not enough
// to hide the texts.
func (s Seen) Secret(f *schema.Field) string {
	words := denylist.Words(f.Name)
	switch {
	case s.Secrets > 0 && (s.Prose*2 < s.Values || s.Secrets*5 >= s.Values):
		return fmt.Sprintf("%d of %d sampled values look like credentials", s.Secrets, s.Values)
	case s.Random > 0 && s.Random*5 >= s.Values*4 && s.Distinct*2 > s.Values && !slices.Contains(checksums, words[len(words)-1]):
		return fmt.Sprintf("%d of %d sampled values look like keys or hashes", s.Random, s.Values)
	}
	return ""
}

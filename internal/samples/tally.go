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
	values map[string]struct{}
	cut    int // values that were too long to be read
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
			t.add(text)
			if len(text) >= 16 && len(text) <= 128 {
				t.seen.Random++
			}
			return
		}
	case value.Int, value.Decimal, value.Float:
		text = v.String()
	}
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	t.add(text)
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	// Values are counted by what they look like; none is kept but in t.values, to count distinct ones.
	count(&t.seen.Secrets, denylist.Value(text))
	count(&t.seen.Random, denylist.Random(text))
	count(&t.seen.Mails, mail.MatchString(text))
	count(&t.seen.Phones, phone.MatchString(text))
	if v.Kind() == value.String {
		read, err := value.Read([]byte(text), 0)
		count(&t.seen.JSON, err == nil && (read.Kind() == value.Object || read.Kind() == value.Array))
		count(&t.seen.Decimals, decimal.MatchString(text))
	}
	if v.Kind() == value.Int {
		const first, last = 946684800, 4102444800 // 2000 to 2100
		count(&t.seen.Seconds, v.Int() >= first && v.Int() < last)
		count(&t.seen.Millis, v.Int() >= first*1000 && v.Int() < last*1000)
	}
	count(&t.seen.Prose, strings.Count(text, " ") > 3 && text[0] != '{' && text[0] != '[')
}

// add counts one text as a value.
func (t *Tally) add(text string) {
	if t.values == nil {
		t.values = map[string]struct{}{}
	}
	t.values[text] = struct{}{}
	t.seen.Values++
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

package sqlite

import (
	"bytes"
	"crypto/md5"
	"database/sql/driver"
	"encoding/base64"
	"encoding/hex"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// longest is the maximum size in bytes of a text that a function returns. A longer result becomes null. SQLite itself
// fails beyond 10^9.
const longest = 1 << 22

// caches keep regular expressions and time zones between calls, for all connections. A statement has only a few of
// them, and needs each again for every row.
type caches struct {
	expressions, zones cache
}

// A cache maps texts to their parsed form. When it is full, all entries are removed.
type cache struct {
	meanings sync.Map
	kept     atomic.Int32
}

const mostPatterns = 256

// get returns the parsed form of text. On first use it calls the function read to parse the text. It empties a full
// cache, since the few texts of a statement soon return.
func (c *cache) get(text string, read func(string) any) any {
	if have, ok := c.meanings.Load(text); ok {
		return have
	}
	text = strings.Clone(text) // see sqlite.FunctionImpl.VolatileArgs
	if c.kept.Add(1) > mostPatterns {
		c.meanings.Clear()
		c.kept.Store(1)
	}
	have, _ := c.meanings.LoadOrStore(text, read(text))
	return have
}

// expression compiles a pattern that was checked when the query was parsed. It returns nil if the pattern doesn't
// compile.
func expression(pattern string) any {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return (*regexp.Regexp)(nil)
	}
	return re
}

// texts returns the functions of texts. c caches compiled patterns. Patterns were checked when the query was parsed.
// One that doesn't compile matches nothing.
func texts(c *caches) map[string]function {
	return map[string]function{
		fnMatches: {2, func(args []driver.Value) driver.Value {
			pattern, _ := args[0].(string)
			text, ok := args[1].(string)
			if !ok {
				return int64(0)
			}
			re := c.expressions.get(pattern, expression).(*regexp.Regexp)
			return truth(re != nil && re.MatchString(text))
		}},
		fnUUID: ofText(func(text string) driver.Value { return uuid(text) }),
		fnQuote: {1, func(args []driver.Value) driver.Value {
			switch v := args[0].(type) {
			case string:
				return quoteJSON(v)
			case []byte: // represents a text that is too long, see dialect.Short
				return []byte{0}
			}
			return nil
		}},
		fnBase64: {1, func(args []driver.Value) driver.Value {
			if b, ok := args[0].([]byte); ok {
				return base64.StdEncoding.EncodeToString(b)
			}
			return nil
		}},
		fnConcat:    {-1, concat},
		fnSubstring: {3, substring},
		fnSplit:     {2, splitJSON},
		fnReplace:   {3, replace},
		fnDigest:    {-1, digest},
		fnReverse: ofText(func(text string) driver.Value {
			characters := []rune(text)
			slices.Reverse(characters)
			return string(characters)
		}),
		fnCapitals: ofText(capitals),
		fnRewrite:  {-1, c.rewrite},
		fnFind: {2, func(args []driver.Value) driver.Value {
			list, _ := c.find(args, 1)
			if len(list) == 0 {
				return nil
			}
			return string(list[0])
		}},
		fnFindAll: {2, func(args []driver.Value) driver.Value {
			list, ok := c.find(args, plan.MostMatches+1)
			if !ok || len(list) > plan.MostMatches {
				return nil
			}
			return "[" + string(bytes.Join(list, []byte(","))) + "]"
		}},
	}
}

// substring returns at most args[2] characters from character args[1], counted from 0. For a negative length it
// returns the whole rest.
func substring(args []driver.Value) driver.Value {
	text, ok := args[0].(string)
	from, fok := args[1].(int64)
	length, lok := args[2].(int64)
	if !ok || !fok || !lok || from < 0 {
		return nil
	}
	text = text[offset(text, from):]
	if length < 0 {
		return text
	}
	return text[:offset(text, length)]
}

// splitJSON returns the parts of a text between separators, as a JSON list. It returns null for an empty separator,
// and if the list would exceed longest bytes.
func splitJSON(args []driver.Value) driver.Value {
	text, ok := args[0].(string)
	sep, sok := args[1].(string)
	if !ok || !sok || sep == "" {
		return nil
	}
	out := append(make([]byte, 0, min(len(text)+len(text)/4+2, longest+4096)), '[')
	for part := range strings.SplitSeq(text, sep) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out = value.AppendQuote(out, writable(part)); len(out) > longest {
			return nil
		}
	}
	return string(append(out, ']'))
}

// replace returns args[0] with every args[1] replaced by args[2]. It returns null if the result would exceed longest
// bytes, which it checks before it copies. An empty args[1] changes nothing.
func replace(args []driver.Value) driver.Value {
	text, ok := args[0].(string)
	find, fok := args[1].(string)
	with, wok := args[2].(string)
	if !ok || !fok || !wok {
		return nil
	}
	if find == "" {
		return text
	}
	if len(text)+strings.Count(text, find)*(len(with)-len(find)) > longest {
		return nil
	}
	return strings.ReplaceAll(text, find, with)
}

// rewrite returns args[0] with each match of the pattern args[1] replaced by args[2]. If args[3] is 0, it replaces
// only the first match. It returns null if the result would exceed longest bytes.
func (c *caches) rewrite(args []driver.Value) driver.Value {
	if len(args) < 3 {
		return nil
	}
	text, ok := args[0].(string)
	pattern, pok := args[1].(string)
	with, wok := args[2].(string)
	if !ok || !pok || !wok {
		return nil
	}
	re := c.expressions.get(pattern, expression).(*regexp.Regexp)
	most := -1
	if len(args) == 4 && args[3] == int64(0) {
		most = 1
	}
	if re == nil {
		return nil
	}
	found := re.FindAllStringIndex(text, most)
	size := len(text)
	for _, at := range found {
		size += len(with) - (at[1] - at[0])
	}
	if size > longest {
		return nil
	}
	var out strings.Builder
	out.Grow(size)
	end := 0
	for _, at := range found {
		out.WriteString(text[end:at[0]])
		out.WriteString(with)
		end = at[1]
	}
	out.WriteString(text[end:])
	return out.String()
}

// find returns matches of the pattern args[1] in args[0], as JSON objects. It stops after most matches. It returns
// false if the result is null.
func (c *caches) find(args []driver.Value, most int) ([][]byte, bool) {
	text, ok := args[0].(string)
	pattern, pok := args[1].(string)
	if !ok || !pok || len(text) > plan.MostSearched {
		return nil, false
	}
	re := c.expressions.get(pattern, expression).(*regexp.Regexp)
	if re == nil {
		return nil, false
	}
	var list [][]byte
	end, before := 0, 0 // the start of the last match, and the number of characters before it
	for _, at := range re.FindAllStringSubmatchIndex(text, most) {
		before += utf8.RuneCountInString(text[end:at[0]])
		end = at[0]
		out := value.AppendQuote([]byte(`{"match":`), writable(text[at[0]:at[1]]))
		out = strconv.AppendInt(append(out, `,"idx":`...), int64(before), 10)
		out = append(out, `,"captures":[`...)
		for i := 2; i < len(at); i += 2 {
			if i > 2 {
				out = append(out, ',')
			}
			if at[i] < 0 {
				out = append(out, "null"...)
			} else {
				out = value.AppendQuote(out, writable(text[at[i]:at[i+1]]))
			}
		}
		list = append(list, append(out, "]}"...))
	}
	return list, true
}

// capitals returns text with the first letter of each word in upper case, and the other letters in lower case.
func capitals(text string) driver.Value {
	out, inside := []byte(text), false
	for i, b := range out {
		lower, upper := 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z'
		if lower && !inside || upper && inside {
			out[i] ^= 'a' ^ 'A'
		}
		inside = lower || upper || '0' <= b && b <= '9' || b >= utf8.RuneSelf
	}
	return string(out)
}

// offset returns the position where character n of text begins. If text has fewer characters, it returns the end.
func offset(text string, n int64) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// concat concatenates texts. It returns null if an argument isn't a text, or if the result would exceed longest
// bytes.
func concat(args []driver.Value) driver.Value {
	size := 0
	for _, a := range args {
		text, ok := a.(string)
		if size += len(text); !ok || size > longest {
			return nil
		}
	}
	var out strings.Builder
	out.Grow(size) // one allocation before copying, since a statement calls concat for thousands of records
	for _, a := range args {
		out.WriteString(a.(string))
	}
	return out.String()
}

// uuid returns a text of the form 8-4-4-4-12 in lower case, or null for other texts.
func uuid(text string) driver.Value {
	if len(text) != 36 {
		return nil
	}
	for i, c := range []byte(text) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return nil
			}
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
		default:
			return nil
		}
	}
	return strings.ToLower(text)
}

// digest returns the MD5 of its arguments' texts, with a separator between them. It determines samples, so every
// source must compute the same digest.
func digest(args []driver.Value) driver.Value {
	h := md5.New()
	for i, a := range args {
		if i > 1 {
			io.WriteString(h, "\x1f")
		}
		io.WriteString(h, plainValue(a).String())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// storedInstant returns the date in a column, in the form that the adapter shows. Text is ISO 8601. Integers count
// seconds or, from 10^11 on, milliseconds. Reals are Julian days.
func storedInstant(v driver.Value) (time.Time, bool) {
	const seconds = 99999999999
	switch v := v.(type) {
	case string:
		date, ok := value.OfDateText(v)
		return time.UnixMicro(date.Micros()), ok && inYears(time.UnixMicro(date.Micros()).UnixMilli())
	case int64:
		if v >= -seconds && v <= seconds {
			v *= 1000
		}
		return time.UnixMilli(v), inYears(v)
	case float64:
		ms := math.Round((v - 2440587.5) * 86400000)
		return time.UnixMilli(int64(ms)), ms >= minMillis && ms <= maxMillis
	}
	return time.Time{}, false
}

package postgres

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// opaqueForms contains the types that PostgreSQL compares by their meaning. Each function converts a text to a form
// that PostgreSQL certainly accepts, because an unacceptable text would make the statement fail. Fields of these
// types are Ordered.
var opaqueForms = map[string]func(text string) (form, cast string, ok bool){
	"inet": inet, "cidr": cidr,
	"macaddr":  func(text string) (string, string, bool) { return mac(text, 6, "macaddr") },
	"macaddr8": func(text string) (string, string, bool) { return mac(text, 8, "macaddr8") },
	"interval": interval, "timetz": timeWithZone, "oid": oid,
	"bit": func(text string) (string, string, bool) {
		return text, "bit(" + strconv.Itoa(max(len(text), 1)) + ")", bits(text)
	},
	"varbit": func(text string) (string, string, bool) { return text, "varbit", bits(text) },
}

// compareOpaque writes x op v for a column of a type that only PostgreSQL knows. If v is certainly a text of the
// type, it compares values of the type, so that an index can be used. Otherwise it compares the shown texts.
func (p dialect) compareOpaque(w *sqlgen.Writer, x sqlgen.Operand, op, v string) error {
	if read := opaqueForms[x.Field.Native]; read != nil {
		form, cast, ok := read(v)
		if ok {
			w.Write(x.Text, " ", op, " ")
			w.Put(form, "text")
			w.Write("::", cast)
			return nil
		}
	}
	if op != "=" {
		return sqlgen.Misread(x.Field, v)
	}
	w.Write(p.textOf(x.Text, x.Field), " = ")
	w.Put(v, "text")
	return nil
}

// Own implements sqlgen.Dialect. The type citext compares texts in lower case.
func (dialect) Own(w *sqlgen.Writer, x sqlgen.Operand, text string) {
	if x.Field.Native == "citext" {
		w.Write("lower(", x.Text, "::text) = lower(")
		w.Put(text, "text")
		w.Write(")")
		return
	}
	w.Write(x.Text, " = ")
	w.Put(text, "text")
}

// Fits implements sqlgen.Dialect.
func (dialect) Fits(f *schema.Field, text string) bool {
	read := opaqueForms[f.Native]
	if read == nil {
		return true
	}
	_, _, ok := read(text)
	return ok
}

func inet(text string) (form, cast string, ok bool) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return a.String(), "inet", true
	}
	n, err := netip.ParsePrefix(text)
	return n.String(), "inet", err == nil
}

func cidr(text string) (form, cast string, ok bool) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return a.String(), "cidr", true
	}
	n, err := netip.ParsePrefix(text)
	return n.String(), "cidr", err == nil && n == n.Masked()
}

func mac(text string, bytes int, typ string) (form, cast string, ok bool) {
	a, err := net.ParseMAC(text)
	return a.String(), typ, err == nil && len(a) == bytes
}

func bits(text string) bool { return strings.Trim(text, "01") == "" && len(text) <= 1<<16 }

func oid(text string) (form, cast string, ok bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return strconv.FormatUint(n, 10), "oid", err == nil
}

var zoned = regexp.MustCompile(`^(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?(?:Z|[+-](\d\d)(?::?(\d\d))?)$`)

func timeWithZone(text string) (form, cast string, ok bool) {
	m := zoned.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	ok = m[1] < "24" && m[2] < "60" && m[3] < "60" && m[4] < "15" && m[5] < "60"
	return text, "timetz", ok
}

var (
	isoInterval   = regexp.MustCompile(`^P(?:(-?\d{1,6})Y)?(?:(-?\d{1,6})M)?(?:(-?\d{1,6})W)?(?:(-?\d{1,8})D)?(?:T(?:(-?\d{1,8})H)?(?:(-?\d{1,8})M)?(?:(-?\d{1,9}(?:\.\d{1,6})?)S)?)?$`)
	clockInterval = regexp.MustCompile(`^([+-]?)(\d{1,8}):(\d\d)(?::(\d\d(?:\.\d{1,6})?))?$`)
	partInterval  = regexp.MustCompile(`^([+-]?\d{1,9})(\.\d{1,6})?$`)
)

// units maps the units of intervals in words to the names that PostgreSQL uses.
var units = map[string]string{"year": "years", "yr": "years", "month": "mons", "mon": "mons", "week": "weeks", "day": "days",
	"hour": "hours", "hr": "hours", "h": "hours", "minute": "mins", "min": "mins", "m": "mins", "second": "secs", "sec": "secs", "s": "secs"}

// interval reads a duration in ISO 8601, in words (1 day 02:30:00, 3 hours), or in the form of a clock.
func interval(text string) (form, cast string, ok bool) {
	if m := isoInterval.FindStringSubmatch(text); m != nil && text != "P" && !strings.HasSuffix(text, "T") {
		var out []string
		for i, unit := range []string{"years", "mons", "weeks", "days", "hours", "mins", "secs"} {
			if m[i+1] != "" {
				out = append(out, m[i+1]+" "+unit)
			}
		}
		return strings.Join(out, " "), "interval", true
	}
	words := strings.Fields(strings.ToLower(text))
	var out []string
	for i := 0; i < len(words); i++ {
		if m := clockInterval.FindStringSubmatch(words[i]); m != nil && m[3] < "60" && m[4] < "60" {
			out = append(out, words[i])
			continue
		}
		m := partInterval.FindStringSubmatch(words[i])
		if m == nil || i+1 == len(words) {
			return "", "", false
		}
		i++
		unit := units[strings.TrimSuffix(words[i], "s")]
		if words[i] == "s" {
			unit = "secs"
		}
		if unit == "" || m[2] != "" && unit != "secs" {
			return "", "", false
		}
		out = append(out, m[0]+" "+unit)
	}
	return strings.Join(out, " "), "interval", out != nil
}

// momentText returns an instant in PostgreSQL's text format for a column, and the type to parse it as. In this
// format, years before 1 are counted backwards, and there is no year 0.
func momentText(m sqlgen.Moment, f *schema.Field) (text, cast string) {
	t := time.UnixMicro(m.Micros).UTC()
	zone, era := "", ""
	cast = "timestamp"
	if f.Native == "timestamptz" {
		zone, cast = "+00", "timestamptz"
	}
	year := t.Year()
	if year < 1 {
		year, era = 1-year, " BC"
	}
	return fmt.Sprintf("%04d-%s%s%s", year, t.Format("01-02 15:04:05.999999"), zone, era), cast
}

package validate

import (
	"encoding/json"
	"errors"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formats contains a check for each string format. A check rejects only values that certainly don't have the format.
// Services accept more than the standard of a format, such as a date and time with a space, without a zone, or in
// seconds. These values pass, and the service decides. The empty string, which clears a field, always passes.
var formats = map[string]func(string) bool{
	"date-time": isDate,
	"datetime":  isDate,
	"date":      isDate,
	"time":      func(s string) bool { return isTime(s) || isDate(s) },
	"uuid":      isUUID,
	"guid":      isUUID,
	"email":     isEmail,
	"idn-email": isEmail,
	"uri":       isURI,
	"url":       isURI,
	"iri":       isURI,
	"hostname":  func(s string) bool { return !strings.ContainsAny(s, " \t\r\n") && !strings.Contains(s, "://") },
	"ipv4":      func(s string) bool { return isAddress(s, netip.Addr.Is4) },
	"ipv6":      func(s string) bool { return isAddress(s, netip.Addr.Is6) },
	"int64":     whole64.MatchString, // as protocol buffers write them
	"uint64":    whole64.MatchString,
	"byte":      isBase64,
}

// ranges contains the minimum and maximum of whole numbers by format.
var ranges = map[string][2]json.Number{
	"int8": {"-128", "127"}, "int16": {"-32768", "32767"}, "int32": {"-2147483648", "2147483647"}, "int64": {"-9223372036854775808", "9223372036854775807"},
	"uint8": {"0", "255"}, "uint16": {"0", "65535"}, "uint32": {"0", "4294967295"}, "uint64": {"0", "18446744073709551615"}, "uint": {"0", "18446744073709551615"},
}

// register makes c check these formats and no others.
func register(c *jsonschema.Compiler) {
	c.AssertFormat()
	for name, fits := range formats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if s, ok := v.(string); ok && s != "" && !fits(strings.TrimSpace(s)) {
				return errors.New("not of the format")
			}
			return nil
		}})
	}
}

var (
	whole64   = regexp.MustCompile(`^[+-]?\d+$`)
	isoDate   = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):?(\d\d))?(?:\D|$)`)
	clockTime = regexp.MustCompile(`^[Tt]?(\d{1,2})(?::(\d\d))`)
	digits    = regexp.MustCompile(`^[+-]?\d+([.,]\d+)?$`)
	humanDate = regexp.MustCompile(`(?i)^\d{4}-(\d\d?|w\d\d?)(-\d\d?)?\b|^\d{8}[t ]?\d*|\d{1,4}[/.]\d{1,2}[/.]\d{1,4}|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b.*\d|\d.*\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b`)
	uuidForm  = regexp.MustCompile(`(?i)^(urn:uuid:)?\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$`)
	opaqueID  = regexp.MustCompile(`^[0-9A-Za-z_]*[0-9][0-9A-Za-z_]*$`)
	uriScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
)

// isDate reports whether s may be a date, with or without a time: in ISO 8601, in seconds, or in a common written
// form. It rejects "now", "tomorrow", and days that don't exist in the calendar.
func isDate(s string) bool {
	if digits.MatchString(s) {
		return true
	}
	m := isoDate.FindStringSubmatch(s)
	if m == nil {
		return humanDate.MatchString(s)
	}
	n := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	if n(2) == 0 && n(3) == 0 {
		return true // MySQL's form of no date
	}
	day := time.Date(n(1), time.Month(n(2)), n(3), 0, 0, 0, 0, time.UTC)
	return int(day.Month()) == n(2) && day.Day() == n(3) && n(4) <= 24 && n(5) < 60
}

// isTime reports whether s may be a time of day.
func isTime(s string) bool {
	if digits.MatchString(s) {
		return true
	}
	m := clockTime.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	return hour <= 24 && minute < 60
}

// isUUID reports whether s is a UUID or another long id with a digit, because documents call these UUIDs too. It
// rejects names and numbers.
func isUUID(s string) bool {
	return uuidForm.MatchString(s) || len(s) >= 20 && strings.Count(s, "-") < 4 && opaqueID.MatchString(strings.ReplaceAll(s, "-", ""))
}

// isEmail reports whether s has text before and after an @.
func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	return at > 0 && at < len(s)-1 && !strings.ContainsAny(s, "\r\n")
}

// isURI reports whether s may be a URI. It must have a scheme or, because many services accept a host or a path,
// contain no spaces.
func isURI(s string) bool { return uriScheme.MatchString(s) || !strings.ContainsAny(s, " \t\r\n") }

// isAddress reports whether s is an IP address, or a range of addresses, that satisfies kind.
func isAddress(s string, kind func(netip.Addr) bool) bool {
	if p, err := netip.ParsePrefix(s); err == nil {
		return kind(p.Addr())
	}
	a, err := netip.ParseAddr(s)
	return err == nil && kind(a)
}

// isBase64 reports whether s may be base64, in either alphabet, with or without padding, in one or several lines.
func isBase64(s string) bool {
	n := 0
	for _, r := range strings.TrimRight(s, "=") {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("+/-_", r):
			n++
		case r != '\r' && r != '\n':
			return false
		}
	}
	return n%4 != 1
}

package response

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// maxMessage is the maximum length of an API's message in characters. maxRead is the number of bytes of the message
// that are examined.
const (
	maxMessage = 500
	maxRead    = 16 << 10
)

var (
	markup   = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<!--.*?-->|<[a-z/!][^<>]*>`)
	isStack  = regexp.MustCompile(`(?i)^\s*(at (?:new |async )?(?:\S*[./\\(<]|\S+ \()|traceback\b|file ".*", line \d|goroutine \d|caused by:|panic:|stack ?trace|#\d+ |\.\.\. \d+ more|[\w./$<>-]+\(.*\.(java|kt|scala|go|rb|py):\d+\))`)
	inStack  = regexp.MustCompile(`(?i)\s(?:at (?:new |async )?[\w$.<>\[\] ]*\(?(?:file:|node:|/|[a-z]:\\|webpack|[\w$./-]+\.(?:js|ts|java|kt|cs|go):\d)|traceback \(most recent|goroutine \d+ \[)`)
	filePath = regexp.MustCompile(`(?i)(?:file://)?(?:[a-z]:\\|\\\\)[^\s"'():;,]+|(?:file://)?/(?:home|users|usr|var|opt|etc|srv|app|root|tmp|private|mnt|proc|lib|lib64|bin|sbin|run|workspace|build|go|snap|volumes|node_modules)/[^\s"'():;,]*(?::\d+)*|[\w.@~/\\-]*[\w-]\.(?:go|[cm]?[jt]sx?|py|rb|php|java|kt|rs|cs|cc|cpp|ex|exs|scala|swift|vue|sql|env|pem|key|sqlite3?|db)(?::\d+)+`)

	userInfo = regexp.MustCompile(`://[^/\s@:]*:[^/\s@]+@`)
	assigned = regexp.MustCompile(`(?i)([\w-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|cookie|credentials?|session[_-]?id)[\w-]*["']?\s*(?:[:=]|\bis\b)\s*)(?:(?:bearer|basic)\s+)?("[^"]*"|'[^']*'|[^\s"',;&)]+)`)
	bearer   = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}`)
	known    = regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?|\b(?:sk|pk|rk)_(?:live|test)_\w+|\bgh[pousr]_\w+|\bgithub_pat_\w+|\bglpat-[\w-]+|\bxox[a-z]-[\w-]+|\bAKIA[0-9A-Z]{12,}|\bff[a-z]{1,5}_[\w-]{16,}|-----BEGIN [^-]*-----[\s\S]*`)
	random   = regexp.MustCompile(`\b[\w+/-]{32,}={0,2}`)
	uuid     = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// sentence returns the part of an API's message that is safe to show. The result is one line without stack traces,
// markup, server paths and likely credentials.
func sentence(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), maxRead)], "")
	s = markup.ReplaceAllString(withoutSecrets(s), " ")
	var kept []string
	for line := range strings.Lines(s) {
		if isStack.MatchString(line) {
			break
		}
		kept = append(kept, line)
	}
	s = oneLine(strings.Join(kept, " "))
	if at := inStack.FindStringIndex(s); at != nil {
		s = s[:at[0]]
	}
	return cut(oneLine(filePath.ReplaceAllString(s, "…")), maxMessage)
}

// withoutSecrets masks texts that look like credentials. These are known forms of keys, the user of a URL, values
// assigned to names such as password, and long texts with digits. UUIDs and paths are not masked.
func withoutSecrets(s string) string {
	s = known.ReplaceAllString(secretnames.Mask(s, Masked), Masked)
	s = userInfo.ReplaceAllString(s, "://"+Masked+"@")
	s = assigned.ReplaceAllStringFunc(s, func(found string) string {
		parts := assigned.FindStringSubmatch(found)
		if strings.HasSuffix(strings.TrimRight(parts[1], " "), "is") && !strings.ContainsAny(parts[2], `0123456789"'`) {
			return found // for example in "the token is invalid"
		}
		return parts[1] + Masked
	})
	s = bearer.ReplaceAllString(s, "$1 "+Masked)
	return random.ReplaceAllStringFunc(s, func(found string) string {
		if uuid.MatchString(found) || !strings.ContainsAny(found, "0123456789") || strings.Count(found, "/") > 1 {
			return found
		}
		return Masked
	})
}

// token returns an error code in the usual form of identifiers, or "" for any other text.
func token(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 100 || s == "about:blank" || withoutSecrets(s) != s {
		return ""
	}
	if at := strings.LastIndexByte(s, '/'); at >= 0 {
		s = s[at+1:] // the type of a problem document is a URL
	}
	for _, r := range s {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.:#", r) {
			return ""
		}
	}
	return s
}

// oneLine returns s without control and format characters, with single spaces for any white space.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cut shortens s to at most the given number of characters, at the end of a word if one is near.
func cut(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	s = string(runes[:most-1])
	if at := strings.LastIndexByte(s, ' '); at > len(s)-30 {
		s = s[:at]
	}
	return s + "…"
}

package secretnames

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// verifier matches stored passwords in the formats of crypt(3), Django, Werkzeug, WordPress, LDAP, Dovecot,
// PostgreSQL, MariaDB, SQL Server and ASP.NET.
var verifier = regexp.MustCompile(`^U?(?:\$(?:[1-9]|2[abxy]?|P|H|S|wp|apr1|sha1|md5[\w,=]*|sm3|gy|bcrypt-sha256|argon2\w*|scrypt|pbkdf2[\w-]*|shiro\d|y|7)\$|` +
	`(?:pbkdf2_\w+|pbkdf2:\w+:\d+|PBKDF2\$\w+|bcrypt\w*|argon2\w*|scrypt(?::\d+){0,3}|(?:un)?salted_\w+|(?:sha|SHA)-?\d+|md5|crypt)\$|` +
	`(?i:\{(?:SSHA\d*|SHA\d*|SMD5|L?MD5|NT|(?:(?:BLF|SHA\d+|MD5|DES)-)?CRYPT|X-[\w-]+|PBKDF2[\w-]*|ARGON2\w*|SCRAM-[\w-]+|CRAM-MD5|PLAIN[\w-]*|BCRYPT|SSHA\d+[\w.]*)\})|` +
	`SCRAM-SHA-\d+\$\d+:|grub\.pbkdf2\.\w+\.\d+\.|AQAAAA[EI]AA[\w+/]{40})\S{8,}$|` +
	`^(?:\*[0-9A-F]{40}|md5[0-9a-f]{32}|0x0[12]00[0-9A-Fa-f]{48,})$`)

// A Verdict says whether a text looks like a credential.
type Verdict uint8

// The values of Verdict.
const (
	Harmless Verdict = iota
	Likely           // a part looks random, or follows the name of a credential in the text
	certain          // the text has a form that only credentials have, or is a document that contains one
)

// Value reports whether a text contains a credential, judged only by its shape.
func Value(text string) bool { return Judge(text) != Harmless }

// Judge classifies a text by its shape. Credentials are keys and tokens of known forms, private keys, URLs with a
// password, and stored passwords. JSON contains a credential if a member is one, or if a member with the name of a
// credential has a value. A settings file contains one if it has a password. Judge is for inspecting samples. It is
// never used for answers.
func Judge(text string) Verdict {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return Harmless
	}
	oneWord := !strings.ContainsAny(trimmed, " \t\r\n") // like all stored passwords
	if oneWord && verifier.MatchString(trimmed) {
		return certain
	}
	masked, sure := cover(text, "")
	if sure {
		return certain
	}
	found := Harmless
	if masked != text {
		found = Likely
	}
	var parsed any
	if strings.IndexByte(`{["`, trimmed[0]) >= 0 && json.Unmarshal([]byte(trimmed), &parsed) == nil {
		return max(found, holds(parsed))
	}
	if settings(trimmed) {
		return certain
	}
	return found
}

// setting matches a line of a settings file: of an environment file, INI, YAML or TOML. between matches other lines
// of such a file: sections and comments.
var (
	setting = regexp.MustCompile(`^\s*(?:- )?(?:export\s+)?["']?([A-Za-z_][\w.-]*)["']?\s*[:=]\s*(.*?),?\s*$`)
	between = regexp.MustCompile(`^\s*(?:[#;!].*|\[.*\]|---|[{}\]])?\s*$`)
)

// settings reports whether a text is a settings file with a password. It must have at least two lines, and almost all
// of them must be settings.
func settings(text string) bool {
	if strings.IndexByte(text, '\n') < 0 {
		return false
	}
	lines, of, secret := 0, 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if between.MatchString(line) {
			continue
		}
		if lines++; !strings.ContainsAny(line, ":=") {
			continue
		}
		parts := setting.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		of++
		is := strings.Trim(parts[2], `"'`)
		secret = secret || Carrier(parts[1]) && len(is) >= 3 && !strings.Contains(is, " ") && value(is)
	}
	return secret && of >= 2 && of*10 >= lines*8
}

// holds judges a part of parsed JSON.
func holds(v any) Verdict {
	found := Harmless
	switch v := v.(type) {
	case map[string]any:
		if pairHolds(v) {
			return certain
		}
		for name, member := range v {
			if text, _ := member.(string); text != "" && Carrier(name) {
				return certain
			}
			found = max(found, holds(member))
		}
	case []any:
		for _, item := range v {
			found = max(found, holds(item))
		}
	case string:
		return Judge(v)
	}
	return found
}

// Names of members of an object that contains a name and its value. pairMarks are members that mark the value as
// secret.
var (
	pairNames  = []string{"name", "key", "setting", "variable", "header", "field", "option", "param", "parameter", "property", "id", "label"}
	pairValues = []string{"value", "val", "data", "content", "default", "text"}
	pairMarks  = []string{"secret", "issecret", "sensitive", "issensitive", "secure", "issecure", "password", "ispassword", "encrypted", "isencrypted", "masked", "protected", "confidential", "hidden"}
)

// pairHolds reports whether an object is a name with a secret value, such as {"key": "SMTP_PASSWORD", "value": "x"}.
// The name must be that of a credential, or the object must mark the value as secret.
func pairHolds(object map[string]any) bool {
	is, marked := "", false
	for name, member := range object {
		plain := strings.ToLower(strings.Join(Words(name), ""))
		text, _ := member.(string)
		switch {
		case slices.Contains(pairValues, plain) && text != "":
			is = text
		case slices.Contains(pairNames, plain) && Carrier(text), plain == "type" && slices.Contains([]string{"secret", "password", "token", "credential"}, strings.ToLower(text)):
			marked = true
		case slices.Contains(pairMarks, plain):
			marked = marked || member == true
		}
	}
	return marked && value(is)
}

// Random reports whether a text looks like a key, a token or a hash of an unknown form. It must be one word of at
// least 24 characters that mixes letters and digits. UUIDs, dates and paths don't match. Identifiers and checksums
// look the same, so a single such value proves little.
func Random(text string) bool {
	if len(text) < 24 || len(text) > 1024 {
		return false
	}
	var digits, letters, dashes, turns int
	var before rune
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r < 0x80 && unicode.IsLetter(r):
			letters++
		case r == '-', r == '_':
			dashes++
		case r == '+', r == '/', r == '=':
		default:
			return false
		}
		if i > 0 && class(r) != class(before) {
			turns++
		}
		before = r
	}
	return digits >= 3 && letters >= 3 && turns >= len(text)/6 && dashes <= len(text)/10
}

// class returns the class of a character. Random texts change the class often, and words rarely do.
func class(r rune) int {
	switch {
	case unicode.IsDigit(r):
		return 0
	case unicode.IsUpper(r):
		return 1
	case unicode.IsLower(r):
		return 2
	}
	return 3
}

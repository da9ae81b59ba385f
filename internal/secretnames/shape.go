package secretnames

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// A shape is the textual form of one kind of credential. The pattern is tried only on texts that contain one of the
// marks.
type shape struct {
	marks   []string
	pattern *regexp.Regexp
	keep    string            // the replacement. ${mask} stands for the mask
	least   int               // minimum length of a matching text
	sign    byte              // a character that a matching text must contain, or 0
	run     int               // minimum length of the longest word as longestRun counts it, or 0
	is      func(string) bool // reports whether the last group of a match, or the whole match, is a credential. Nil accepts all
	sure    bool              // an accepted match is certainly a credential, even though is decides
}

// shapes lists the forms of credentials in texts, as published by their issuers.
var shapes = []shape{
	{run: 11, marks: []string{"eyJ"}, pattern: regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*){0,3}`)},
	{marks: []string{"PRIVATE KEY"}, pattern: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)`)},
	{marks: []string{"OpenVPN Static key"}, pattern: regexp.MustCompile(`-----BEGIN OpenVPN Static key V1-----[\s\S]*?(?:-----END OpenVPN Static key V1-----|$)`)},
	{marks: []string{"Private-Lines:"}, pattern: regexp.MustCompile(`(Private-Lines: \d+\s+)(?:[A-Za-z0-9+/=]+\s*)+`), keep: "$1${mask}"},
	{marks: []string{"_live_", "_test_", "whsec_", "sk_org_"}, pattern: regexp.MustCompile(`\b(?:(?:sk|rk)_(?:live|test)|whsec|sk_org_(?:live|test)|shippo_(?:live|test)|duffel_(?:live|test)|FLWSECK_TEST|rzp_(?:live|test))_\w+`)},
	{run: 20, marks: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, pattern: regexp.MustCompile(`\b(?:gh[pousr]|github_pat)_\w{16,}`)},
	{least: 20, run: 10, sign: '-', marks: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-", "gloas-", "glrtr-", "glffct-", "glwt-", "xox", "xapp-", "SWMTKN-", "SWMKEY-", "sk-", "AGE-SECRET-KEY-", "GOCSPX-", "pypi-", "HRKU-", "PMAK-", "NRAK-", "NRII-", "NRIQ-", "sq0", "pplx-", "xai-", "tskey-", "CFPAT-", "pul-", "FLWSECK-", "access-", "sdk-", "mob-", "key-", "-us", "LTAI"}, pattern: regexp.MustCompile(`\b(?:gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas|rtr|ffct|wt)-[\w.-]{16,}|xox[a-z](?:\.xox[a-z])?-[\w-]{10,}|xapp-\d-[\w-]{10,}|SWM(?:TKN|KEY)-1-[\w-]+|sk-(?:ant-|proj-|svcacct-|or-)?[\w-]{20,}|AGE-SECRET-KEY-\w+|GOCSPX-[\w-]{20,}|pypi-[\w-]{40,}|HRKU-[\w-]{30,}|PMAK-[\w-]{30,}|NRAK-[A-Z0-9]{20,}|NRI[IQ]-[\w-]{20,}|sq0(?:atp|csp|idp)-[\w-]{20,}|pplx-[\w]{30,}|xai-\w{30,}|tskey-[\w-]{16,}|CFPAT-[\w-]{30,}|pul-[0-9a-f]{30,}|FLWSECK-[\w-]{20,}|access-(?:production|sandbox|development)-[0-9a-f-]{30,}|(?:sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}|LTAI-?[A-Za-z0-9]{16,})\b`)},
	{least: 20, run: 20, sign: '_', marks: []string{"npm_", "hf_", "api_org_", "_v1_", "rubygems_", "dckr_", "nfp_", "sbp_", "sb_secret_", "pscale_", "napi_", "lin_", "ntn_", "secret_", "figd_", "glsa_", "glc_", "sntry", "shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "r8_", "gsk_", "pcsk_", "sgp_", "bkua_", "CCIPAT_", "aio_", "pnu_", "rdme_", "tfp_", "CLOJARS_", "ops_eyJ", "y0_", "fm1_", "fm1r_", "fm1a_", "fm2_", "fo1_", "tvly_", "dapi_", "vercel_", "patat_", "ATLASSIAN_"}, pattern: regexp.MustCompile(`\b(?:npm_\w{30,}|hf_\w{30,}|api_org_\w{30,}|do[opr]_v1_\w{30,}|rubygems_[0-9a-f]{40,}|dckr_[po]at_[\w-]{16,}|nfp_\w{30,}|sbp_[0-9a-f]{30,}|sb_secret_[\w-]{16,}|pscale_(?:tkn|oauth|pw)_[\w-]{20,}|napi_\w{30,}|lin_(?:api|oauth)_\w{20,}|ntn_\w{30,}|secret_[A-Za-z0-9]{40,}|figd_[\w-]{30,}|glsa_\w{30,}|glc_[\w=+/]{30,}|sntry[su]_[\w=+/-]{30,}|shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{30,}|r8_\w{30,}|gsk_\w{30,}|pcsk_\w{30,}|sgp_\w{30,}|bkua_\w{30,}|CCIPAT_\w{20,}|aio_\w{20,}|pnu_\w{30,}|rdme_\w{30,}|tfp_[\w=-]{30,}|CLOJARS_\w{30,}|ops_eyJ[\w-]{30,}|y0_[\w-]{30,}|fm[12][ar]?_[\w+/=-]{30,}|fo1_[\w-]{30,}|tvly_\w{20,}|dapi_\w{30,}|vercel_\w{20,}|patat_\w{30,}|ATLASSIAN_\w{30,})`)},
	{least: 24, run: 20, sign: '.', marks: []string{"SG.", "ya29.", "hvs.", "hvb.", "hvr.", "dp.", ".atlasv1.", "dt0", "sl."}, pattern: regexp.MustCompile(`\b(?:SG\.[\w-]{16,}\.[\w-]{16,}|ya29\.[\w-]{20,}|hv[sbr]\.[\w-]{20,}|dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]+\.)?\w{30,}|\w{14}\.atlasv1\.[\w-]{30,}|dt0[a-z]\d{2}\.\w{20,}\.\w{40,}|sl\.[\w-]{40,})`)},
	{sign: '.', run: 58, least: 58, pattern: regexp.MustCompile(`\b(?:[MNO][A-Za-z\d_-]{23,}\.[\w-]{6}\.[\w-]{27,}|pat\w{14}\.[0-9a-f]{40,})`)},
	{marks: []string{"ff"}, least: 24, run: 20, sign: '_', pattern: regexp.MustCompile(`\bff[a-z]{1,5}_[\w-]{16,}`)},
	{run: 20, marks: []string{"AKIA", "ASIA", "AIza", "ATATT3", "ATCTT3", "ATBB", "EAAA", "dapi", "LTAI", "AKID", "AQVN", "AKCp", "oy2", "cio", "EZAK", "EZTK", "EAA"}, pattern: regexp.MustCompile(`\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|AT[AC]TT3[\w=-]{30,}|ATBB\w{24,}|EAAA[\w-]{50,}|EAA[A-Z][A-Za-z0-9]{60,}|dapi[0-9a-f]{32}(?:-\d)?|LTAI[A-Za-z0-9]{16,}|AKID[A-Za-z0-9]{32}|AQVN[\w-]{35,}|AKCp[A-Za-z0-9]{60,}|oy2[a-z0-9]{43}|cio[A-Za-z0-9]{32}|EZ[AT]K[A-Za-z0-9]{40,})\b`)},
	{run: 35, marks: []string{":AA"}, pattern: regexp.MustCompile(`\b\d{8,10}:AA[\w-]{33}\b`)},
	{run: 34, marks: []string{"SK"}, pattern: regexp.MustCompile(`\bSK[0-9a-f]{32}\b`)},
	{run: 37, marks: []string{"8Q~", "7Q~"}, pattern: regexp.MustCompile(`[\w.~-]{3}[78]Q~[\w.~-]{31,34}`)},
	{marks: []string{"hooks.slack.com/"}, pattern: regexp.MustCompile(`(hooks\.slack\.com/(?:services|workflows|triggers)/)[\w/]+`), keep: "$1${mask}"},
	{marks: []string{"/webhooks/"}, pattern: regexp.MustCompile(`(discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/)[\w-]+`), keep: "$1${mask}"},
	{marks: []string{"webhook.office.com"}, pattern: regexp.MustCompile(`(webhook\.office\.com/webhookb2/)[\w@/-]+`), keep: "$1${mask}"},
	{sign: '@', marks: []string{"://"}, pattern: regexp.MustCompile(`(://)[^/\s@:]*:[^/\s@]+(@)`), keep: "$1${mask}$2"},
	{sign: '@', marks: []string{"://"}, pattern: regexp.MustCompile(`(://)([A-Za-z0-9_.~-]{20,})(@)`), keep: "$1${mask}$3"},
	{marks: []string{"assword=", "ASSWORD=", "wd=", "WD=", "ccountKey=", "ccessKey=", "ccessSignature="},
		pattern: regexp.MustCompile(`(?i)\b((?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature)=)[^;\s&"']+`), keep: "$1${mask}"},
	{marks: []string{"earer ", "EARER "}, pattern: regexp.MustCompile(`(?i)\b(bearer\s+)([\w.~+/-]{8,}=*)`), keep: "$1${mask}", is: looksRandom},
	{marks: []string{"asic ", "ASIC "}, pattern: regexp.MustCompile(`(?i)\b(basic\s+)([A-Za-z0-9+/]{6,}={0,2})`), keep: "$1${mask}", is: pairOfBasic, sure: true},
	{marks: []string{"oken "}, pattern: regexp.MustCompile(`(?i)\b(authorization["']?\s*[:=]\s*["']?token\s+(?:token=)?)"?([\w.~+/-]{8,}=*)`), keep: "$1${mask}", is: looksRandom},
	{marks: []string{"uthorization"}, pattern: regexp.MustCompile(`(?i)\b(authorization["']?\s*[:=]\s*["']?(?:apikey\s+|api-key\s+|key\s+|negotiate\s+|ntlm\s+|splunk\s+|genie\s?key\s+|sso-key\s+)?)([\w.~+/:-]{12,}=*)`), keep: "$1${mask}", is: looksRandom},
	{marks: []string{"ignature", "SIGNATURE"}, pattern: regexp.MustCompile(`(?i)\b((?:x-(?:amz|goog|oss|cos|tos|hub)-)?signature(?:-256)?["']?\s?[=:]\s?["']?(?:sha256=|sha1=)?)([\w%+/.~-]{16,}=*)`), keep: "$1${mask}", is: looksRandom},
	{marks: []string{"sig="}, pattern: regexp.MustCompile(`([?&;](?:sig|hmac|hdnts|__token__)=)([\w%+/.~=-]{16,})`), keep: "$1${mask}", is: looksRandom},
	{marks: []string{"ookie:", "OOKIE:"}, pattern: regexp.MustCompile(`(?i)\b((?:set-)?cookie["']?:\s*["']?[\w.-]+=)([^\s;"']{8,})`), keep: "$1${mask}", is: looksRandom},
	{marks: []string{"--"}, pattern: regexp.MustCompile(`(\s--(?:[a-z]+-)*(?:password|passwd|token|secret|api-?key|access-key|secret-key|auth-token)(?:=|\s+))["']?([^\s"'<>$\[\]{}]{4,})`), keep: "$1${mask}", is: value},
	{marks: []string{"-u ", "--user "}, pattern: regexp.MustCompile(`(\bcurl\b[^\n]*?\s(?:-u|--user)\s+["']?[^\s:"']+:)([^\s"'<>$]{3,})`), keep: "$1${mask}"},
	{marks: []string{"password "}, pattern: regexp.MustCompile(`(\blogin\s+\S+\s+password\s+)(\S+)`), keep: "$1${mask}", is: value},
	{marks: []string{"BY '", "by '", "PASSWORD '", "password '"}, pattern: regexp.MustCompile(`(?i)\b((?:identified\s+by|(?:encrypted\s+)?password)\s+')([^'\s]+)(?:')`), keep: "$1${mask}'"},
	{marks: []string{"</"}, pattern: regexp.MustCompile(`(?i)(<(?:\w+:)?[\w-]*(?:password|passwd|secret|token|apikey|api_key|privatekey)>)([^<\s]+)(</)`), keep: "$1${mask}$3"},
	{marks: []string{"$2", "$argon2", "$5$", "$6$", "$y$", "$scrypt"}, pattern: regexp.MustCompile(`\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|argon2\w*\$v=\d+\$[\w=,]+\$[\w+/]+\$[\w+/]+|[56y]\$(?:rounds=\d+\$)?[./A-Za-z0-9]+\$[./A-Za-z0-9$]{20,})`)},
	{marks: []string{"{SSHA", "{SHA", "{SMD5", "{CRYPT"}, pattern: regexp.MustCompile(`\{(?:SSHA\d*|SHA\d*|SMD5|CRYPT)\}[\w+/=$.]{16,}`)},
}

// looksRandom reports whether text may be random or encoded. It contains letters and digits, or mixes upper and lower
// case unlike words.
func looksRandom(text string) bool {
	digits, lower, upper := false, false, 0
	for i, r := range text {
		digits = digits || r >= '0' && r <= '9'
		lower = lower || r >= 'a' && r <= 'z'
		if r >= 'A' && r <= 'Z' && i > 0 {
			upper++
		}
	}
	return digits && (lower || upper > 0) && !strings.Contains(text, "://") || upper >= 3 && lower && len(text) >= 16
}

// value reports whether text, given for a secret, is a real value and not a placeholder word.
func value(text string) bool {
	text = strings.ToLower(strings.Trim(text, `"'`+"`.,;:)("))
	switch text {
	case "", "string", "text", "null", "none", "nil", "true", "false", "required", "optional", "invalid", "missing", "expired", "undefined", "redacted", "masked", "hidden", "secret", "password", "token", "value", "yes", "no", "empty",
		"is", "was", "has", "must", "and", "or", "from", "in", "with", "the", "a", "an", "here", "change-me", "changeme", "default", "unknown", "not", "to", "for", "object", "number", "boolean":
		return false
	}
	return (len(text) < 3 || strings.Trim(text, "*•.xX-_") != "") && !strings.Contains(text, "…") && !stands.MatchString(text) && !strings.HasPrefix(text, "your")
}

// stands matches placeholders of a value: ${NAME}, <token>, {{ token }}, $TOKEN, %(token)s.
var stands = regexp.MustCompile(`^(?:[<\[{(]|\$[({a-z_]|%[({]|=)`)

// pairOfBasic reports whether text is the base64 of a name and a password, as in the HTTP header Authorization.
func pairOfBasic(text string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil || !strings.Contains(string(plain), ":") {
		return false
	}
	for _, c := range plain {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

var (
	// assignment matches a line of an environment file or a settings file.
	assignment = regexp.MustCompile(`(?:\b|_)([A-Za-z][A-Za-z0-9_.-]*)(\s?=\s?)("[^"]*"|'[^']*'|[^\s"'&;]+)`)
	// entry matches a JSON member, or a YAML or header entry, within a text.
	entry = regexp.MustCompile(`(["']?)\b([A-Za-z_][A-Za-z0-9_.-]*)((?:\\?["'])?\s*:\s*)("(?:[^"\\]|\\.)*"|'[^']*'|\\"[^"\\]*\\"|[^\s"',;}\]]+)`)
	// codeLike matches a name or a call in code.
	codeLike = regexp.MustCompile(`^[A-Za-z_][\w.]*(?:\(.*)?$`)
)

// withoutMask returns text with each mask replaced by a short harmless text.
func withoutMask(text, mask string) string {
	if mask == "" {
		return text
	}
	return strings.ReplaceAll(text, mask, "k0")
}

// Mask replaces the parts of text that look like credentials by mask. It covers keys and tokens of known forms,
// private keys, URLs with a password or a signature, connection strings, and headers. It also covers settings with
// names of credentials (STRIPE_KEY=…, "password":"…", api_key: …).
func Mask(text, mask string) string {
	masked, _ := cover(text, mask)
	return masked
}

// cover does the work of Mask. sure reports whether a replaced part has a form that only credentials have. Other
// parts only look random or follow the name of a credential.
func cover(text, mask string) (_ string, sure bool) {
	run := longestRun(text)
	for i := range shapes {
		s := &shapes[i]
		if len(text) < s.least || run < s.run || s.sign != 0 && strings.IndexByte(text, s.sign) < 0 || s.marks != nil && !contains(text, s.marks) {
			continue
		}
		if masked := s.mask(text, mask); masked != text {
			text, run = masked, longestRun(masked)
			sure = sure || s.is == nil || s.sure
		}
	}
	if strings.Contains(text, "=") {
		text = assignment.ReplaceAllStringFunc(text, func(found string) string {
			parts := assignment.FindStringSubmatch(found)
			if !Carrier(parts[1]) || strings.TrimSpace(parts[2]) != parts[2] && codeLike.MatchString(parts[3]) || !value(withoutMask(parts[3], mask)) {
				return found
			}
			return strings.TrimSuffix(found, parts[1]+parts[2]+parts[3]) + parts[1] + parts[2] + mask
		})
	}
	if strings.Contains(text, ":") && mayNameCredential(text) {
		text = entry.ReplaceAllStringFunc(text, func(found string) string {
			parts := entry.FindStringSubmatch(found)
			if is := parts[4]; !Carrier(parts[2]) || strings.Contains(is, mask) && mask != "" || !holdsSecret(is) {
				return found
			}
			return parts[1] + parts[2] + parts[3] + around(parts[4], mask)
		})
	}
	return text, sure
}

// holdsSecret reports whether text is a secret value. text is the value of an entry whose name is that of a
// credential. An unquoted value may be an ordinary word of a sentence.
func holdsSecret(text string) bool {
	plain := strings.Trim(strings.ReplaceAll(text, `\"`, `"`), `"'`)
	quoted := len(plain) < len(text)
	return value(plain) && !strings.Contains(plain, " ") && (quoted && len(plain) >= 4 || !quoted && len(plain) >= 6 && strings.ContainsAny(plain, "0123456789") && strings.ContainsAny(strings.ToLower(plain), "abcdefghijklmnopqrstuvwxyz"))
}

// hints lists parts of the names of credentials.
var hints = []string{"pass", "secret", "token", "key", "auth", "cred", "pwd", "jwt", "cookie", "dsn", "salt", "session", "connection", "private"}

// mayNameCredential reports whether a text may contain the name of a credential.
func mayNameCredential(text string) bool { return contains(strings.ToLower(text), hints) }

// around returns mask with the same quotes as text.
func around(text, mask string) string {
	for _, q := range []string{`\"`, `"`, `'`} {
		if strings.HasPrefix(text, q) && strings.HasSuffix(text, q) {
			return q + mask + q
		}
	}
	return mask
}

// mask replaces each match of s in text.
func (s *shape) mask(text, mask string) string {
	with := mask
	if s.keep != "" {
		with = strings.ReplaceAll(s.keep, "${mask}", mask)
	}
	if s.is == nil {
		return s.pattern.ReplaceAllString(text, with)
	}
	return s.pattern.ReplaceAllStringFunc(text, func(found string) string {
		parts := s.pattern.FindStringSubmatch(found)
		if !s.is(parts[min(2, len(parts)-1)]) {
			return found
		}
		return s.pattern.ReplaceAllString(found, with)
	})
}

// longestRun returns the length of the longest word of a text. A word consists of letters, digits, and the signs of
// base64 and paths.
func longestRun(text string) (longest int) {
	n := 0
	for i := range len(text) {
		if !inRun[text[i]] {
			n = 0
			continue
		}
		if n++; n > longest {
			longest = n
		}
	}
	return longest
}

// inRun contains true for each byte that can be part of a word of longestRun.
var inRun = func() (in [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+/=~") {
		in[c] = true
	}
	return in
}()

func contains(text string, marks []string) bool {
	for _, m := range marks {
		if strings.Contains(text, m) {
			return true
		}
	}
	return false
}

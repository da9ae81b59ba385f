package denylist

import (
	"regexp"
	"strings"
)

// A shape is the textual form of a kind of credential. Only texts that contain one of the marks are matched.
type shape struct {
	marks   []string
	pattern *regexp.Regexp
	keep    string // the replacement, with ${mask} for the mask
}

var shapes = []shape{
	{[]string{"eyJ"}, regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?`), ""},
	{[]string{"PRIVATE KEY"}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|$)`), ""},
	{[]string{"_live_", "_test_", "whsec_"}, regexp.MustCompile(`\b(?:(?:sk|rk)_(?:live|test)|whsec)_\w+`), ""},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, regexp.MustCompile(`\b(?:gh[pousr]|github_pat)_\w{16,}`), ""},
	{[]string{"glpat-", "xox", "npm_", "hf_", "dop_v1_", "SWMTKN-", "SWMKEY-", "AIza", "sk-", "AGE-SECRET-KEY-"},
		regexp.MustCompile(`\b(?:glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|npm_\w{30,}|hf_\w{30,}|dop_v1_\w{30,}|SWM(?:TKN|KEY)-1-[\w-]+|AIza[\w-]{30,}|sk-(?:ant-|proj-)?[\w-]{20,}|AGE-SECRET-KEY-\w+)`), ""},
	{[]string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), ""},
	{[]string{"://"}, regexp.MustCompile(`(://)[^/\s@:]*:[^/\s@]+(@)`), "$1${mask}$2"},
	{[]string{"assword=", "ASSWORD=", "wd=", "WD=", "ccountKey=", "ccessKey=", "ccessSignature="},
		regexp.MustCompile(`(?i)\b((?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature)=)[^;\s&"']+`), "$1${mask}"},
}

// assignment matches a line of an environment or settings file.
var assignment = regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9_.-]*)(\s?=\s?)("[^"]*"|'[^']*'|[^\s"'&;]+)`)

// Mask replaces the parts of text that look like credentials by mask: keys and tokens of known forms, private keys,
// URLs with a password, connection strings, and settings with names of credentials (STRIPE_KEY=…).
func Mask(text, mask string) string {
	for _, s := range shapes {
		if contains(text, s.marks) {
			with := mask
			if s.keep != "" {
				with = strings.ReplaceAll(s.keep, "${mask}", mask)
			}
			text = s.pattern.ReplaceAllString(text, with)
		}
	}
	if !strings.Contains(text, "=") {
		return text
	}
	return assignment.ReplaceAllStringFunc(text, func(found string) string {
		parts := assignment.FindStringSubmatch(found)
		if !Carrier(parts[1]) {
			return found
		}
		return parts[1] + parts[2] + mask
	})
}

func contains(text string, marks []string) bool {
	for _, m := range marks {
		if strings.Contains(text, m) {
			return true
		}
	}
	return false
}

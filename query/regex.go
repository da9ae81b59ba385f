package query

import "github.com/bailiwick-dev/bailiwick/value"

// ParseRegex checks a regular expression that stands at the JSON pointer at, as that of a $regex is checked.
func ParseRegex(pattern, options, at string) (Regex, error) {
	f, err := regex(nil, value.OfString(pattern), value.OfString(options), at)
	if err != nil {
		return Regex{}, err
	}
	return f.(Regex), nil
}

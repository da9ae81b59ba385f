package connstring

import "net/url"

// Split separates the user and the password from a URL. user is nil if the URL has none. Both results are nil for a
// text that isn't a URL, because it may contain a password anywhere.
func Split(text string) (place *url.URL, user *url.Userinfo) {
	place, err := url.Parse(text)
	if err != nil {
		return nil, nil
	}
	user, place.User = place.User, nil
	return place, user
}

// Userless returns a URL without its user and password. It returns a text that isn't a URL unchanged.
func Userless(text string) string {
	place, user := Split(text)
	if user == nil {
		return text
	}
	return place.String()
}

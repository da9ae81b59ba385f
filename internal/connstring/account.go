package connstring

import "net/url"

// Split takes the user and the password off a URL. user is nil if it has none. place is nil for a text that isn't a URL: it may hold a
// password anywhere.
func Split(text string) (place *url.URL, user *url.Userinfo) {
	place, err := url.Parse(text)
	if err != nil {
		return nil, nil
	}
	user, place.User = place.User, nil
	return place, user
}

// Userless returns a URL without its user and password. It returns a text that isn't a URL as it is.
func Userless(text string) string {
	place, user := Split(text)
	if user == nil {
		return text
	}
	return place.String()
}

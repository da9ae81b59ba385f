package denylist

import "testing"

// TestValue checks which texts look like credentials by their shape.
func TestValue(t *testing.T) {
	for _, text := range []string{
		"$2b$12$KIXQ4b0eC1Jq8Qh3nV5o3uO9u5Hq0m1s3b8i7o6y5t4r3e2w1q0pa",
		"$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaKObG",
		"pbkdf2_sha256$260000$salt$hash01234567890", "{SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3", "$P$B123456789abcdefghijklmnopqrst0",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "postgres://app:hunter2@db:5432/app",
		`{"google": {"id": "1", "access_token": "ya29.x"}}`, `[{"apiKey": "abc"}]`, `{"note": "use ghp_0123456789abcdef0123 now"}`, `{"inner": "{\"client_secret\": \"x\"}"}`,
		"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
	} {
		if !Value(text) {
			t.Errorf("%q is taken as harmless", text)
		}
	}
	for _, text := range []string{"", "hello", "a $2 note", "$2b$", `{"name": "x", "token": ""}`, `{"token": 3}`, `{"page_token": "abc"}`, "{not json", "https://example.com/a?b=c",
		"550e8400-e29b-41d4-a716-446655440000", "{SSHA} is a scheme"} {
		if Value(text) {
			t.Errorf("%q is taken as a credential", text)
		}
	}
}

// TestRandom checks which texts look like keys or hashes of no known form.
func TestRandom(t *testing.T) {
	for text, want := range map[string]bool{
		"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08": true,
		"d41d8cd98f00b204e9800998ecf8427e":                                 true,
		"Zm9vYmFyMTIzNDU2Nzg5MDEyMzQ1Njc4OTA=":                             true,
		"x9K2mQ7pL4vT8nR3wY6zB1cD5":                                        true,
		"550e8400-e29b-41d4-a716-446655440000":                             false,
		"a-slug-of-many-words-for-2026-and-10-more":                        false,
		"customer_order_confirmation_2026_11_22":                           false,
		"2026-11-22T14:30:00.000000Z":                                      false,
		"uploads/2026/11/22/holiday-picture-1234.jpg":                      false,
		"averylongwordwithoutanydigits":                                    false,
		"123456789012345678901234567890":                                   false,
		"short1234":                                                        false,
	} {
		if Random(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

package secretnames

import (
	"strings"
	"testing"
)

// TestValue checks which texts look like credentials by their shape.
func TestValue(t *testing.T) {
	for _, text := range []string{
		"$2b$12$KIXQ4b0eC1Jq8Qh3nV5o3uO9u5Hq0m1s3b8i7o6y5t4r3e2w1q0pa",
		"$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaKObG",
		"pbkdf2_sha256$260000$salt$hash01234567890", "{SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3", "$P$B123456789abcdefghijklmnopqrst0",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "postgres://app:hunter2@db:5432/app",
		`{"google": {"id": "1", "access_token": "ya29.x"}}`, `[{"apiKey": "abc"}]`, `{"note": "use ghp_0123456789abcdef0123 now"}`, `{"inner": "{\"client_secret\": \"x\"}"}`, `"{\"client_secret\": \"x\"}"`,
		"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----",

		"$S$DhKpEqBqMbqRNqN6ZfUxTzGQ3cQ1mJm9Qx3Zf4yE1Jv5K2y5o7xV", "U$S$9abcdefghijklmnop", "$H$9abcdefghijklmnopqrstuvwxyz01", "$wp$2y$10$KIXQ4b0eC1Jq8Qh3nV5o3uO9u5Hq0m1s3b8i7o6y5t4r3e2w1q0pa", "$apr1$lZL6V/ci$eIMz/iKDkbtys/uU7LEK00",
		"$6$rounds=5000$abcdefgh$abcdefghijklmnopqrstuvwxyz", "$sha1$40000$jtNX3nZ2$hBNaIXkt4wBI2o5rsi8KejSjNqIq", "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7", "$bcrypt-sha256$v=2,t=2b,r=12$n79VH.0Q2TMWmt3Oqt9uku$Kq4Noyk3094Y2QlB8NdRT8SvGiI4ft2",
		"pbkdf2:sha256:150000$salt$0123456789abcdef", "scrypt:32768:8:1$salt$0123456789abcdef", "sha256$salt$0123456789", "md5$salt$0123456789", "unsalted_md5$0123456789abcdef", "PBKDF2$sha256$10000$abc$0123456789",
		"{BLF-CRYPT}$2y$05$abcdefghijklmnop", "{SHA512-CRYPT}$6$abcdefghijkl", "{ARGON2ID}$argon2id$v=19$m=1", "{x-pbkdf2}B64:abcdefgh", "{CRAM-MD5}0123456789abcdef", "{PLAIN}hunter2hunter2", "{ssha}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3",
		"SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy", "md532e12f215ba27cb750c9e093ce4b5127", "*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29", "grub.pbkdf2.sha512.10000.0123456789ABCDEF",
		"AQAAAAEAACcQAAAAEBLjouNqaeiVWbN0TbXUS3+ChW3d7aQIk/BQEkWBxlrdRRngp14b0BIH0Rp65qD6mA==", "0x0200F733058A07892C5CACE899768F89965F6BD1DED7955FE89E1C9A10E27849B0B213B5CE92CC9347ECCB34C3EFADAF2FD99BFFECD8D9150DD6AACB5D409A9D2652A4E0AF16",

		`[{"key": "host", "value": "x"}, {"key": "code", "value": "hunter2", "secret": true}]`, `{"name": "SMTP_PASSWORD", "value": "hunter2"}`, `{"a": [{"b": {"header": "Authorization", "value": "abc"}}]}`, `{"key": "X-Api-Key", "value": "abc"}`,
		`{"id": "smtp", "type": "password", "value": "hunter2"}`, `{"field": "x", "is_secret": true, "data": "abc"}`,
		"[mail]\nhost = smtp.example.com\nuser = app\npassword = hunter", "smtp:\n  host: x\n  password: hunter\n  port: 25", "HOST=x\nexport DB_PASSWORD=hunter\n", "# settings\nuser: app\nsecret: \"hunter\"",
	} {
		if !Value(text) {
			t.Errorf("%q is taken as harmless", text)
		}
	}
	for _, text := range []string{"", "hello", "a $2 note", "$2b$", `{"name": "x", "token": ""}`, `{"token": 3}`, `{"page_token": "abc"}`, `["a", "b"]`, `"a"`, "3", "{not json", "https://example.com/a?b=c",
		"550e8400-e29b-41d4-a716-446655440000", "{SSHA} is a scheme",
		`{"key": "host", "value": "x"}`, `{"key": "password", "value": ""}`, `{"key": "color", "value": "red", "secret": false}`, `{"name": "Password", "value": "********"}`, `{"type": "password", "label": "Your password"}`,
		"Title: a report\nAuthor: Ada", "password: required\nuser: required", "The password is wrong.\nPlease try again.", "user: app\npassword: ${DB_PASSWORD}", "Question: what is it?\nToken: see the mail of today\nAnswer: none",
		"sha256:9f86d081884c7d659a2feaa0c55ad015", "md5 of the file", "*bold* text", "$5 off", "$1,000$ and more", "0x0200", "Password\n=======\nHow to reset it"} {
		if Value(text) {
			t.Errorf("%q is taken as a credential", text)
		}
	}
}

// TestRandom checks which texts look like keys or hashes of an unknown form.
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

		"a1b2c3d4e5f6g7h8i9j0k1l2":                  true, // the minimum length
		"a1b2c3d4e5f6g7h8i9j0k1l":                   false,
		strings.Repeat("a1", 512):                   true, // the maximum length
		strings.Repeat("a1", 512) + "a":             false,
		"aaaaaa111111bbbbbb22222c":                  true, // the minimum number of changes of class
		"aaaaaa111111bbbbbb222222":                  false,
		"aaaaaaaaaaaaaaaaaaaaaaaaaaa123":            false,
		"aaa111111111-1111111111a":                  true,
		"111AAAAAAAA-AAAAAAAAAAA1":                  true,
		"111aaaaaaaa-aaaaaaaaaaa1":                  true,
		"111aaaaAAAAaaaaAAAAaaaaa":                  true,
		"1a1b1c111111111111111111":                  true, // the minimum number of letters
		"1a1b11111111111111111111":                  false,
		"aBaBaBaBaBaBaBaBaBaB1a2b3":                 true, // the minimum number of digits
		"aBaBaBaBaBaBaBaBaBaB1a2bc":                 false,
		"a1b2-c3d4-e5f6g7h8i9j0k1":                  true, // the maximum number of dashes
		"a1b2-c3d4_e5f6-g7h8i9j0k":                  false,
		"a1b2c3d4e5-a1b2c3d4e5_a1b2c3d4e5-a1b2c3_d": true,
		"a1b2c3+d4/e5f6g7h8i9j0k1=":                 true,
		"a1b2c3d4.e5f6g7h8i9j0k1l2":                 false,
		"a1b2c3d4 e5f6g7h8i9j0k1l2":                 false,
		"é1b2c3d4e5f6g7h8i9j0k1l2":                  false,
	} {
		if Random(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

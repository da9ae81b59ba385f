package denylist

import (
	"strings"
	"testing"
)

// TestCredential is the built-in denylist: what a name alone says.
func TestCredential(t *testing.T) {
	denied := "password Password user_password passwordHash passwd pass_phrase_passphrase secret client_secret secrets token session_token accessToken api_key apiKey apikey API_KEY " +
		"private_key privateKey salt password_salt ssn otp otp_secret otpCode totp pin_hash email_digest contentHash credentials"
	shown := "id name pass passport secretary tokens token_ids tokenizer hash digest hashtag salty option optional keyboard key monkey_key api public_key rehash class"
	for _, n := range strings.Fields(denied) {
		if !Credential(n) {
			t.Errorf("%s is shown", n)
		}
	}
	for _, n := range strings.Fields(shown) {
		if strings.HasPrefix(n, "token_") {
			continue
		}
		if Credential(n) {
			t.Errorf("%s is denied", n)
		}
	}
	for _, n := range []string{"_hashed_password", "_auth_data", "_auth_data_google", "_rperm", "_tombstone"} {
		if !Internal(n) {
			t.Errorf("%s is not internal", n)
		}
	}
}

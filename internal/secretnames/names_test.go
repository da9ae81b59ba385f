package secretnames

import (
	"slices"
	"strings"
	"testing"
)

// TestCredential checks which names suggest a credential.
func TestCredential(t *testing.T) {
	denied := "password Password user_password passwordHash passwd pass_phrase_passphrase secret client_secret secrets token session_token accessToken api_key apiKey apikey API_KEY " +
		"pass pwd user_pass dbPass smtp_pass passcode pin pin_code cvv cvc otp_code recovery_codes backupCodes cookie session_id sessionId authData auth_data signing_key encryptionKey " +
		"masterKey access_key_id ssh_key kubeconfig DATABASE_URL redis_url connectionString dsn unlock_key UnlockKey JoinTokens_token jwt Authorization mnemonic webhook_headers " +
		"private_key privateKey salt password_salt ssn otp otp_secret otpCode totp pin_hash email_digest credentials " +
		"clientsecret refreshtoken accesstoken tls_psk dbpass encrypted_value encryptedSettings user_activation_key loginkey hmac_key auth_code snmp_community " +
		"request_authorization issuing_cookie value_enc value_encrypted " +
		"snmp_v3_priv_pass mpass app_code pass_crypt twofa_key authpass cryptopass pw user_pw ldap_pword access_cred creds password2 pass_1 secret_03 pin_number enc_key akey actkey authcode invite_code inviteCode email_change_code persist_code " +
		"slack_webhook_url directWebhookUrl verify_code stream_key hashedKey lookup_token passwort Kennwort mot_de_passe motdepasse contraseña contrasena senha parola wachtwoord lösenord salasana hasło heslo jelszó пароль şifre 密码 パスワード 비밀번호 kata_sandi mat_khau cle_api clave_api"
	shown := "extended_authorization issuingAuthorization id name boarding_pass passport pinned cookie_consent authorization_date session url key public_key pins spinner compass secretary tokens tokenizer hash digest hashtag salty option optional keyboard key monkey_key api public_key rehash class " +
		"contentHash token_ids compass bypass encrypted is_encrypted community activation password_changed_at lastPasswordUpdate tokenexpiry token_type has_password must_change_password password_policy api_key_id otp_enabled max_tokens token_count psk_identity trace_sessions " +
		"config_hash version_digest boarding_pass zip_code status_code language_code currencyCode product_key translation_key storageKey idempotency_key externalKey internalVersion subscription_activation_rules error_code promo_code referralCode country_code author_code user email root was_encrypted has_enc are_encrypted"
	for _, n := range strings.Fields(denied) {
		if !Credential(n) {
			t.Errorf("%s is shown", n)
		}
	}
	for _, n := range strings.Fields(shown) {
		if Credential(n) {
			t.Errorf("%s is denied", n)
		}
	}
	for _, n := range []string{"", "_", "--"} {
		if Credential(n) {
			t.Errorf("%q is denied", n)
		}
	}
	for name, want := range map[string]bool{"_hashed_password": true, "_auth_data": true, "_auth_data_google": true, "_rperm": true, "_tombstone": true,
		"rperm": false, "_auth": false, "password": false} {
		if Internal(name) != want {
			t.Errorf("%s is internal: %t", name, !want)
		}
	}
}

// TestCarrier checks under which names texts are credentials.
func TestCarrier(t *testing.T) {
	for name, want := range map[string]bool{"token": true, "tokens": true, "accessTokens": true, "page_secret": true, "sync_password": true, "STRIPE_KEY": true, "X_KEY": true,
		"next_token": false, "pageToken": false, "page_tokens": false, "SYNC_TOKENS": false, "stripe_key": false, "Stripe_KEY": false, "PUBLIC_KEY": false, "KEY": false, "STRIPE_KEYS": false, "name": false,
		"commit_hash": false, "queryHash": false, "image_digest": false, "password_hash": true, "email_digest": true, "token_content_hash": true, "key_hash": true} {
		if Carrier(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

// TestWords checks the words of identifiers.
func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"apiKey":            "api key",
		"API_KEY":           "api key",
		"APIKey":            "api key",
		"ApiKEY":            "api key",
		"__api--key__":      "api key",
		"sha256Sum":         "sha256sum",
		"sha256_sum":        "sha256 sum",
		"x2":                "x2",
		"Äpfel und ÖlPreis": "äpfel und öl preis",
		"A":                 "a",
		"":                  "",
		"__":                "",
	} {
		got := Words(name)
		if strings.Join(got, " ") != want || len(got) == 0 {
			t.Errorf("%q: %q, want %s", name, got, want)
		}
	}
}

// TestKey checks which values under the name of a key are masked. The form of the value or the description in the API
// document decides.
func TestKey(t *testing.T) {
	const secret = "ySruZGv5z7xbf8xou3Tyn1TByns/7z90wdEPf+WdIbI="
	for _, row := range []struct {
		name, text string
		want       bool
	}{
		{"key", secret, true},
		{"tsigKey", secret, true},
		{"public_key", secret, false},
		{"cache_key", secret, false},
		{"keys", secret, false},
		{"key", "uploads/2026/11/28/0a1b2c3d4e5f60718293.png", false},
		{"key", "PROJ-1", false},
		{"key", strings.Repeat("aB3d", 12), false}, // an ID in base62
		{"key", strings.ToLower(secret), false},
		{"key", secret[:39] + "=", true},
		{"key", secret[4:39] + "=", false},
	} {
		if got := Key(row.name, row.text); got != row.want {
			t.Errorf("%s %s: %t", row.name, row.text, got)
		}
	}
	for description, want := range map[string]bool{"The Base64 encoded secret key, empty when listing": true, "The private key": true, "The pre-shared key": true, "The key of the secret to select from.  Must be a valid secret key.": false, "The ID of the secret key": false, "The secret key of the zone, whose name of old is longer": true, "The key of the issue, as in PROJ-1": false, "": false} {
		if got := SecretKey("key", description); got != want {
			t.Errorf("%s: %t", description, got)
		}
	}
	for description, want := range map[string]bool{"The Base64 encoded public key.": true, "Key contains the actual SSH public key content": true, "A public SSH key": true, "The public and the private key": false, "The key": false} {
		if got := PublicKey(description); got != want {
			t.Errorf("%s is of a public key: %t", description, got)
		}
	}
	if SecretKey("keytype", "Of the private key") {
		t.Error("the type of a key is a secret")
	}
}

// TestDrawn checks which texts of letters and digits are masked as keys and which are IDs. The names of the other
// members of the object decide. A row contains the name, the text and these names.
func TestDrawn(t *testing.T) {
	const (
		hex32  = "62eb165c070a41d5c1b58d9d3d725ca1"
		hex40  = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
		hex64  = "d0552b41536279a0ad88bd595327b96f01176a60c2243e906c52ac02375f9bc4"
		base62 = "k8pX5hD0793d8YQC5aD1aEPd7VleSuGP"
		id     = "550e8400-e29b-41d4-a716-446655440000"
	)
	for _, row := range []struct {
		what, name, text, beside string
		want                     bool
	}{
		{"Meilisearch's key", "key", hex64, "name description key uid actions indexes expiresAt createdAt", true},
		{"Kong's key of a consumer", "key", hex32, "consumer created_at id key tags ttl", true},
		{"Kong's key, in letters and digits", "key", base62, "consumer created_at id key", true},
		{"Algolia's key", "value", hex32, "value createdAt acl validity", true},
		{"Typesense's key", "value", base62, "id description actions collections value", true},
		{"a UUID with scopes", "key", id, "id key scopes", true},
		{"an API key by name of its kind", "deviceKey", hex40, "permissions", true},
		{"a key that was revoked", "key", base62, "revoked_at", true},
		{"a key and nothing else", "key", hex64, "key", false},
		{"a file of Figma", "key", "FP7lqd1V00LUaT5zvdklkkZr", "name thumbnail_url last_modified", false},
		{"a component of Figma", "key", hex40, "file_key node_id name", false},
		{"an object in a store", "key", hex40, "size etag last_modified permissions", false},
		{"an upload", "key", hex64, "url expires_at", false},
		{"a cache of GitHub", "key", hex64, "id ref version last_accessed_at size_in_bytes", false},
		{"a commit", "sha", hex40, "url permissions", false},
		{"a public key", "public_key", base62, "scopes", false},
		{"a sort key", "sort_key", hex32, "actions", false},
		{"an idempotency key", "idempotency_key", id, "actions", false},
		{"the key of a map", "key", hex64, "value permissions", false},
		{"the value of a map", "value", hex64, "key permissions", false},
		{"an issue", "key", "PROJ-123456789012345678901234", "permissions", false},
		{"a name", "key", "the-key-of-the-front-door-2026", "permissions", false},
		{"a date", "value", "2026-11-22T14:30:00.000000Z", "actions", false},
		{"keys", "keys", hex64, "actions", false},
		{"an id", "id", hex64, "actions scopes", false},
		{"a node", "nodeKeyId", hex64, "scopes", false},
	} {
		if got := IsRandomKey(row.name, row.text, slices.Values(strings.Fields(row.beside))); got != row.want {
			t.Errorf("%s: %t", row.what, got)
		}
	}
	for _, row := range []struct {
		setting, text string
		want          bool
	}{
		{"Webhook key", hex64, true}, {"stripe-key", base62, true}, {"license key", id, true}, {"Cache key", hex64, false}, {"public key", hex64, false}, {"sort_key", hex64, false},
		{"Webhook key", "on", false}, {"Commit", hex40, false}, {"Keyboard", hex64, false}, {"Webhook key", "a/" + hex64, false},
	} {
		if got := IsKeySetting(row.setting, row.text); got != row.want {
			t.Errorf("%s %s: %t", row.setting, row.text, got)
		}
	}
}

// TestSingular checks the singular of words.
func TestSingular(t *testing.T) {
	for word, want := range map[string]string{"tokens": "token", "policies": "policy", "identities": "identity", "cookies": "cookie", "series": "series", "access": "access", "dns": "dns", "ties": "tie", "acls": "acl", "user": "user", "": ""} {
		if got := Singular(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

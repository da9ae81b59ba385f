package secretnames

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// credentialParts lists parts of names that indicate a credential. Separators are removed.
var credentialParts = []string{"password", "passwd", "passphrase", "passcode", "apikey", "privatekey", "accesskey", "signingkey", "encryptionkey", "masterkey", "unlockkey", "sshkey",
	"deploykey", "secretkey", "securekey", "serverkey", "storedkey", "sharedkey", "consumerkey", "licensekey", "sessionkey", "sessionid", "authdata", "recoverycode", "backupcode", "connectionstring", "connectionurl", "connectionuri",
	"databaseurl", "databaseuri", "redisurl", "mongourl", "mongouri", "amqpurl", "kubeconfig", "keytab", "seedphrase", "mnemonic", "webhookheader", "webhookurl", "webhookuri",
	"claimcode", "confirmcode", "deeplinkcode", "downloadkey", "protectcode", "sharekey", "activationkey", "hmackey", "invitekey", "loginkey",
	"snmpcommunity"}

// credentialWords indicate a credential anywhere in a name. credentialEnds indicate one only as the last word.
var (
	credentialWords = []string{"secret", "secrets", "token", "salt", "ssn", "totp", "credential", "credentials", "cred", "creds", "jwt", "pwd", "pword", "puk", "ssha", "onetime", "verifier", "pw", "cvv", "cvc", "cvn", "pin", "psk", "apikeys"}
	credentialEnds  = []string{"authorization", "cookie", "cookies", "bearer", "dsn", "tok", "pwhash", "passhash"}
	allowed         = []string{"extended", "incremental", "issuing"} // these authorizations belong to payments and not to requests
	// otherPass lists words that end in "pass" but are not passwords.
	otherPass = []string{"bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass", "multipass", "lowpass", "highpass", "bandpass", "singlepass"}
	// passedThings lists words before a "pass" that is a ticket, or that means a passed test.
	passedThings = []string{"boarding", "season", "day", "ski", "travel", "transit", "ticket", "event", "test", "tests", "did", "first", "second", "last", "low", "high", "band"}
	// lockedKeys lists words before "key" that make it a credential. openingCodes lists the same for "code".
	lockedKeys = []string{"access", "act", "activation", "api", "app", "application", "auth", "authentication", "bot", "bucket", "cipher", "client", "confirm", "confirmation", "consumer", "contact", "crypto", "decryption", "deploy", "enc", "encrypted",
		"encryption", "fcm", "gcm", "hashed", "hmac", "integration", "invitation", "invite", "ldap", "license", "licence", "login", "mac", "master", "mfa", "otp", "password", "private", "priv", "psk", "recover", "recovery", "registration",
		"reset", "root", "secret", "security", "server", "session", "shared", "signing", "ssh", "ssl", "stream", "symmetric", "tfa", "tls", "totp", "tsig", "twofa", "2fa", "unlock", "user", "vapid", "verify", "verification", "webhook", "wg", "wireguard", "wrapping", "write"}
	openingCodes = []string{"access", "activation", "active", "app", "auth", "authentication", "authorization", "backup", "change", "claim", "confirm", "confirmation", "device", "door", "email", "enrollment", "entry", "forgot", "gate", "invitation", "invite", "join",
		"lock", "login", "mail", "mfa", "otp", "pair", "pairing", "password", "persist", "pin", "recovery", "register", "registration", "remember", "reset", "secret", "security", "share", "shared", "sms", "tfa", "twofa", "2fa", "unlock", "user", "verification", "verify"}
	// gradesOf lists words after "pass" that mean a passed test.
	gradesOf = []string{"rate", "mark", "fail", "failed", "grade", "score", "threshold", "percent", "percentage", "through", "on", "or", "count", "ratio", "criteria", "yards", "attempts"}
	passOf   = []string{"user", "usr", "db", "database", "smtp", "mail", "email", "auth", "root", "admin", "login", "ftp", "sftp", "ssh", "proxy", "redis", "http", "ldap", "mysql", "pg", "postgres"}
)

// Credential reports whether a field's name suggests a credential. The same list decides which database fields are
// hidden unless a rule lifts them, which fields of API answers are masked, and which fields init denies. The last
// words of a name count most. For example, token_expires_at and password_policy describe a credential but don't
// contain one.
func Credential(name string) bool {
	words := numberless(Words(name))
	return !about(words) && (marksCredential(words) || namesHash(words))
}

// A Form is the kind of values that a column can contain, as far as it matters for credentials.
type Form uint8

// The values of Form. A column without a declared type has AnyForm.
const (
	AnyForm Form = iota // texts, JSON, bytes, lists, UUIDs, or not declared
	Whole               // integers
	never               // booleans, fractions and dates, which are never credentials
)

// FormOf returns the Form of a column of a type.
func FormOf(t schema.Type) Form {
	switch t {
	case schema.Boolean, schema.Double, schema.Decimal, schema.Date, schema.Day:
		return never
	case schema.Integer:
		return Whole
	}
	return AnyForm
}

// Column reports whether a column with this name and form should be hidden unless a rule lifts it.
func Column(name string, form Form) bool {
	switch form {
	case never:
		return false
	case Whole: // a PIN can be an integer, but a hash can't
		return Credential(name) && marksCredential(numberless(Words(name)))
	}
	return Credential(name)
}

// numberless returns words without trailing numbers: password2 and secret_1 lose them.
func numberless(words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		if stem := strings.TrimRight(w, "0123456789"); stem != "" {
			out = append(out, stem)
		}
	}
	if len(out) == 0 {
		return words
	}
	return out
}

// marksCredential reports whether the words of a name indicate a credential other than a hash.
func marksCredential(words []string) bool {
	joined := strings.Join(words, "")
	if slices.ContainsFunc(credentialParts, func(part string) bool { return strings.Contains(joined, part) }) || foreign(words) {
		return true
	}
	for _, w := range words {
		if slices.Contains(credentialWords, w) || strings.HasPrefix(w, "otp") || strings.HasSuffix(w, "secret") || strings.HasSuffix(w, "token") || strings.HasSuffix(w, "salt") && len(w) > 5 && w != "cobalt" {
			return true
		}
	}
	last, before := words[len(words)-1], ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	if namesCiphertext(words) || opens(before, last) {
		return true
	}
	if slices.Contains(credentialEnds, last) {
		return last != "authorization" || !slices.Contains(allowed, before)
	}
	at := slices.Index(words, "pass")
	return at >= 0 && at < len(words)-1 && !slices.Contains(gradesOf, words[at+1]) && !(at > 0 && slices.Contains(passedThings, words[at-1]))
}

// opens reports whether a word and the word before it name a password, a key or a code that gives access. They may
// also be written as one word: dbpass, actkey, authcode.
func opens(before, last string) bool {
	for end, of := range map[string][]string{"key": lockedKeys, "code": openingCodes} {
		stem, ok := strings.CutSuffix(strings.TrimSuffix(last, "s"), end)
		switch {
		case !ok:
		case stem == "" && slices.Contains(of, before), stem != "" && slices.Contains(of, stem) && stem != "user" && stem != "app", stem == "a" && end == "key":
			return true
		}
	}
	stem, ok := strings.CutSuffix(last, "pass")
	switch {
	case !ok || slices.Contains(otherPass, last):
		return false
	case stem == "":
		return !slices.Contains(passedThings, before)
	}
	return slices.Contains(passOf, stem) || !slices.Contains(passedThings, stem)
}

// namesHash reports whether the words name a hash that may belong to a password or a token.
func namesHash(words []string) bool {
	last := words[len(words)-1]
	return len(words) > 1 && (last == "hash" || last == "digest") && !slices.Contains(contents, words[len(words)-2])
}

// contents lists things that are identified by hashes. Such hashes occur in requests and are not secret.
var contents = []string{"commit", "tree", "blob", "git", "content", "query", "block", "transaction", "tx", "image", "artifact", "manifest", "layer", "info", "parent", "head", "base", "merge", "revision", "build", "schema",
	"config", "configuration", "params", "parameters", "source", "version", "variation", "family", "cert", "certificate", "ca", "post", "comment", "result", "context", "file", "media", "body", "data", "dedupe", "dedup", "child", "subject",
	"sha256", "sha", "md5", "256", "in", "include", "daily", "weekly", "document", "object", "row", "state", "input", "output", "url", "path", "name", "title", "message", "text", "template", "asset", "package", "chunk", "event", "perceptual", "geo"}

// namesCiphertext reports whether a name says that its value is encrypted, such as encrypted_value, token_enc and
// accessCiphertext, but not is_encrypted. An encrypted value is treated as a secret.
func namesCiphertext(words []string) bool {
	last := words[len(words)-1]
	if len(words) == 1 {
		return last == "ciphertext"
	}
	return slices.ContainsFunc(words[:len(words)-1], func(w string) bool { return w == "encrypted" }) || words[0] == "enc" || slices.Contains([]string{"encrypted", "enc", "ciphertext", "ciphered", "encryption"}, last) && !slices.Contains([]string{"is", "was", "has", "are", "end"}, words[0]) ||
		strings.Contains(strings.Join(words, ""), "ciphertext")
}

// Carrier reports whether texts under this name are credentials. Numbers and objects under the name may be harmless.
// Carrier accepts the names of Credential, their plurals, and environment variables. It excludes pagination tokens
// and hashes of contents.
func Carrier(name string) bool {
	words := numberless(Words(name))
	last := words[len(words)-1]
	if about(words) {
		return false
	}
	if strings.HasPrefix(last, "token") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(paging, w) }) {
		return false
	}
	return marksCredential(words) || namesHash(words) || last == "tokens" || variable(name)
}

var paging = []string{"page", "next", "prev", "previous", "continuation", "sync", "skip", "cursor"}

// variable reports whether name looks like an environment variable for a key. It accepts STRIPE_KEY, but not
// PUBLIC_KEY.
func variable(name string) bool {
	return strings.ToUpper(name) == name && strings.HasSuffix(name, "_KEY") && !strings.Contains(name, "PUBLIC")
}

// Key reports whether text under this name is a secret key. The name must be used only for keys, and the text must be
// at least 30 bytes in base64. Keys of records, files and translations have the same names but look different.
func Key(name, text string) bool {
	return isKeyName(name) && len(text) >= 40 && len(text)%4 == 0 && inBase64.MatchString(text) && strings.ContainsAny(text, "+=") && strings.ContainsAny(text, "0123456789") && strings.ToUpper(text) != text && strings.ToLower(text) != text
}

var inBase64 = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`)

// SecretKey reports whether a field named key is described as secret. It excludes descriptions of names within a
// secret. Kubernetes calls these names keys: "The key of the secret to select from. Must be a valid secret key."
func SecretKey(name, description string) bool {
	words := Words(name)
	return words[len(words)-1] == "key" && secretKey.MatchString(description) && !aboutKey.MatchString(description)
}

// PublicKey reports whether a field is described as a public key. The value of a public key looks like that of a
// secret key.
func PublicKey(description string) bool {
	return publicKey.MatchString(description) && !secretKey.MatchString(description)
}

var (
	secretKey = regexp.MustCompile(`(?i)\b(?:secret|private|symmetric|pre-?shared) key\b`)
	publicKey = regexp.MustCompile(`(?i)\bpublic\b[\w ]{0,20}\bkey\b`)
	aboutKey  = regexp.MustCompile(`(?i)\bkey (?:of|in|within) (?:the|a) (?:secret|config)|^\W*(?:the |an? )?(?:\w+ )?(?:name|id|identifier|type|version|fingerprint) of\b`)
)

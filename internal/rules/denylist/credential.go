package denylist

import (
	"regexp"
	"slices"
	"strings"
)

// credentialParts lists parts of names, without separators, that mark a credential.
var credentialParts = []string{"password", "passwd", "passphrase", "passcode", "apikey", "privatekey", "accesskey", "signingkey", "encryptionkey", "masterkey", "unlockkey", "sshkey",
	"deploykey", "secretkey", "serverkey", "storedkey", "sharedkey", "consumerkey", "licensekey", "sessionkey", "sessionid", "authdata", "recoverycode", "backupcode", "connectionstring", "connectionurl", "connectionuri",
	"databaseurl", "databaseuri", "redisurl", "mongourl", "mongouri", "amqpurl", "kubeconfig", "keytab", "seedphrase", "mnemonic", "webhookheader",
	"accesscode", "claimcode", "confirmcode", "confirmationcode", "deeplinkcode", "downloadkey", "protectcode", "sharekey", "unlockcode", "activationkey", "activationcode", "authcode", "authorizationcode", "hmackey", "invitekey", "loginkey", "logincode", "resetcode", "securitycode",
	"snmpcommunity", "verificationcode"}

// credentialWords mark a credential anywhere in a name, credentialEnds as its last word.
var (
	credentialWords = []string{"secret", "secrets", "token", "salt", "ssn", "totp", "credential", "credentials", "jwt", "pwd", "cvv", "cvc", "pin", "psk"}
	credentialEnds  = []string{"authorization", "cookie", "cookies", "bearer", "dsn"}
	allowed         = []string{"extended", "incremental", "issuing"} // authorizations of payments, not of requests
	passOf          = []string{"user", "usr", "db", "database", "smtp", "mail", "email", "auth", "root", "admin", "login", "ftp", "sftp", "ssh", "proxy", "redis", "http", "ldap", "mysql", "pg", "postgres"}
)

// Credential reports whether a field's name suggests a credential. The same list decides which database fields are
// hidden unless a rule lifts them, which fields of API answers are masked, and which fields init denies.
func Credential(name string) bool {
	words := Words(name)
	return marked(words) || hashed(words)
}

// marked reports whether the words of a name mark a credential, hashes apart.
func marked(words []string) bool {
	joined := strings.Join(words, "")
	if slices.ContainsFunc(credentialParts, func(part string) bool { return strings.Contains(joined, part) }) {
		return true
	}
	for _, w := range words {
		if slices.Contains(credentialWords, w) || strings.HasPrefix(w, "otp") || strings.HasSuffix(w, "secret") || strings.HasSuffix(w, "token") {
			return true
		}
	}
	last := words[len(words)-1]
	switch before, ok := strings.CutSuffix(last, "pass"); {
	case ok && slices.Contains(passOf, before), encrypted(words):
		return true
	case slices.Contains(credentialEnds, last):
		return last != "authorization" || len(words) == 1 || !slices.Contains(allowed, words[len(words)-2])
	case last == "pass":
		return len(words) == 1 || slices.Contains(passOf, words[len(words)-2])
	}
	return false
}

// hashed reports whether the words of a name are those of a hash of something, which may be a password or a token.
func hashed(words []string) bool {
	last := words[len(words)-1]
	return len(words) > 1 && (last == "hash" || last == "digest")
}

// contents are what hashes are identifiers of: in answers of APIs they are asked for again, and aren't secret.
var contents = []string{"commit", "tree", "blob", "git", "content", "query", "block", "transaction", "tx", "image", "artifact", "manifest", "layer", "info", "parent", "head", "base", "merge", "revision", "build", "schema"}

// encrypted reports whether a name of several words calls what it holds encrypted: encrypted_value, token_enc, but not
// is_encrypted. Why else would it be?
func encrypted(words []string) bool {
	last := words[len(words)-1]
	return len(words) > 1 && (words[0] == "encrypted" || (last == "encrypted" || last == "enc") && !slices.Contains([]string{"is", "was", "has", "are"}, words[0]))
}

// Carrier reports whether texts under a name are credentials, even if numbers and objects under it aren't: the names of
// Credential, plurals and names of environment variables. Pagination tokens and hashes of contents are excluded.
func Carrier(name string) bool {
	words := Words(name)
	last := words[len(words)-1]
	if strings.HasPrefix(last, "token") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(paging, w) }) {
		return false
	}
	return marked(words) || hashed(words) && !slices.Contains(contents, words[len(words)-2]) || last == "tokens" || variable(name)
}

var paging = []string{"page", "next", "prev", "previous", "continuation", "sync", "skip", "cursor"}

// variable reports whether name looks like an environment variable for a key: STRIPE_KEY, but not PUBLIC_KEY.
func variable(name string) bool {
	return strings.ToUpper(name) == name && strings.HasSuffix(name, "_KEY") && !strings.Contains(name, "PUBLIC")
}

// Key reports whether text, under this name, is a key: it is called a key and nothing else that keys are called, and is at least 30 bytes in
// base64. The keys of records, files and translations are called the same and don't look so.
func Key(name, text string) bool {
	return called(name) && len(text) >= 40 && len(text)%4 == 0 && inBase64.MatchString(text) && strings.ContainsAny(text, "+=") && strings.ContainsAny(text, "0123456789") && strings.ToUpper(text) != text && strings.ToLower(text) != text
}

var inBase64 = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`)

// SecretKey reports whether a field called a key is described as one that is secret. Kubernetes calls the names of what a
// secret has its keys: "The key of the secret to select from. Must be a valid secret key."
func SecretKey(name, description string) bool {
	words := Words(name)
	return words[len(words)-1] == "key" && secretKey.MatchString(description) && !aboutKey.MatchString(description)
}

// PublicKey reports whether a field is described as a public key, which looks as a secret one does.
func PublicKey(description string) bool {
	return publicKey.MatchString(description) && !secretKey.MatchString(description)
}

var (
	secretKey = regexp.MustCompile(`(?i)\b(?:secret|private|symmetric|pre-?shared) key\b`)
	publicKey = regexp.MustCompile(`(?i)\bpublic\b[\w ]{0,20}\bkey\b`)
	aboutKey  = regexp.MustCompile(`(?i)\bkey (?:of|in|within) (?:the|a) (?:secret|config)|^\W*(?:the |an? )?(?:\w+ )?(?:name|id|identifier|type|version|fingerprint) of\b`)
)

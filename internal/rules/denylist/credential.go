package denylist

import (
	"slices"
	"strings"
)

// Parts of names, without separators, that say that a value is a credential.
var credentialParts = []string{"password", "passwd", "passphrase", "passcode", "apikey", "privatekey", "accesskey", "signingkey", "encryptionkey", "masterkey", "unlockkey", "sshkey",
	"deploykey", "secretkey", "sharedkey", "consumerkey", "licensekey", "sessionkey", "sessionid", "authdata", "recoverycode", "backupcode", "connectionstring", "connectionurl", "connectionuri",
	"databaseurl", "databaseuri", "redisurl", "mongourl", "mongouri", "amqpurl", "kubeconfig", "keytab", "seedphrase", "mnemonic", "webhookheader"}

// Words of names that say so wherever they stand, and those that do as the last word.
var (
	credentialWords = []string{"secret", "secrets", "token", "salt", "ssn", "totp", "credential", "credentials", "jwt", "pwd", "cvv", "cvc", "pin"}
	credentialEnds  = []string{"authorization", "cookie", "cookies", "bearer", "dsn"}
	passOf          = []string{"user", "usr", "db", "database", "smtp", "mail", "email", "auth", "root", "admin", "login", "ftp", "sftp", "ssh", "proxy", "redis", "http", "ldap", "mysql", "pg", "postgres"}
)

// Credential reports whether a field's name says that it holds a credential. It is the one list: what databases never show
// unless a rule lifts it, what is masked in answers of APIs, and what init denies.
func Credential(name string) bool {
	words := Words(name)
	joined := strings.Join(words, "")
	if slices.ContainsFunc(credentialParts, func(part string) bool { return strings.Contains(joined, part) }) {
		return true
	}
	for _, w := range words {
		if slices.Contains(credentialWords, w) || strings.HasPrefix(w, "otp") {
			return true
		}
	}
	last := words[len(words)-1]
	switch {
	case slices.Contains(credentialEnds, last):
		return true
	case last == "pass":
		return len(words) == 1 || slices.Contains(passOf, words[len(words)-2])
	}
	return len(words) > 1 && (last == "hash" || last == "digest")
}

// Carrier reports whether texts under a name are credentials, though numbers and records aren't: Credential, and names in
// the plural or of lists of settings. The token of a next page is none.
func Carrier(name string) bool {
	words := Words(name)
	last := words[len(words)-1]
	if strings.HasPrefix(last, "token") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(paging, w) }) {
		return false
	}
	return Credential(name) || last == "tokens" || variable(name)
}

var paging = []string{"page", "next", "prev", "previous", "continuation", "sync", "skip", "cursor"}

// variable reports whether a name is that of an environment variable for a key: STRIPE_KEY, not PUBLIC_KEY.
func variable(name string) bool {
	return strings.ToUpper(name) == name && strings.HasSuffix(name, "_KEY") && !strings.Contains(name, "PUBLIC")
}

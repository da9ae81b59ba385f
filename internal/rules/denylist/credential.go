package denylist

import (
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
	return len(words) > 1 && (last == "hash" || last == "digest")
}

// encrypted reports whether a name of several words calls what it holds encrypted: encrypted_value, token_enc, but not
// is_encrypted. Why else would it be?
func encrypted(words []string) bool {
	last := words[len(words)-1]
	return len(words) > 1 && (words[0] == "encrypted" || (last == "encrypted" || last == "enc") && !slices.Contains([]string{"is", "was", "has", "are"}, words[0]))
}

// Carrier reports whether texts under a name are credentials, even if numbers and objects under it aren't: the names of
// Credential, plurals and names of environment variables. Pagination tokens are excluded.
func Carrier(name string) bool {
	words := Words(name)
	last := words[len(words)-1]
	if strings.HasPrefix(last, "token") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(paging, w) }) {
		return false
	}
	return Credential(name) || last == "tokens" || variable(name)
}

var paging = []string{"page", "next", "prev", "previous", "continuation", "sync", "skip", "cursor"}

// variable reports whether name looks like an environment variable for a key: STRIPE_KEY, but not PUBLIC_KEY.
func variable(name string) bool {
	return strings.ToUpper(name) == name && strings.HasSuffix(name, "_KEY") && !strings.Contains(name, "PUBLIC")
}

package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// vaults are names of operation groups that are only about credentials.
var vaults = []string{"secret", "credential", "token", "access token", "api key"}

// holdsKeys reports whether path names a collection called just "keys", or a member of one:
// /accounts/{id}/keys/{key}.
func holdsKeys(path string) bool {
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	if last := len(parts) - 1; last > 0 && strings.HasPrefix(parts[last], "{") {
		parts = parts[:last]
	}
	return strings.EqualFold(strings.TrimSuffix(parts[len(parts)-1], ".json"), "keys")
}

// keysOf are words before "key" that make it a credential: "api key", and also "apikey".
var keysOf = []string{"access", "account", "activation", "api", "application", "auth", "bucket", "crypto", "deploy", "encryption", "gpg", "hmac", "master", "pgp", "private", "recovery", "root", "secret", "service",
	"setup", "shared", "signing", "ssh", "storage", "tsig", "unlock", "wrapping"}

// namesKey reports whether said, words separated by spaces, contains a key that is a credential. Reading a person's
// GPG keys returns only the public part. But someone who adds a key can sign for that person.
func namesKey(said string, reads bool) bool {
	before := ""
	for w := range strings.FieldsSeq(said) {
		of, is := strings.CutSuffix(w, "key")
		if of == "" {
			of = before
		}
		if is && slices.Contains(keysOf, of) && !(reads && (of == "gpg" || of == "pgp")) {
			return true
		}
		before = w
	}
	return false
}

// aPublicKey replaces the names of keys that anybody may see.
const aPublicKey = " public "

// public removes keys that may be shown to anybody from the words of a read.
var public = strings.NewReplacer(" public key ", aPublicKey, " public ssh key ", aPublicKey, " public gpg key ", aPublicKey)

// version matches a version number inside a name: the 2 in OAuth2Application.
var version = regexp.MustCompile(`([0-9])([A-Z][a-z])`)

// withoutVersion removes the version number at the end of a word: OAuth2.
func withoutVersion(w string) string {
	if stem := strings.TrimRight(w, "0123456789"); len(stem) >= 4 {
		return stem
	}
	return w
}

// people are objects of operations that can receive rights. levels and roles are names of fields that grant rights.
var (
	people = []string{"user", "directory", "member", "membership", "account", "collaborator", "team", "group", "principal", "subject"}
	levels = []string{"admin", "isadmin", "superuser", "issuperuser", "isstaff", "siteadmin", "isowner", "rootrole", "globalrole", "accessrole"}
	roles  = []string{"role", "roles", "roleid", "roleids", "permission", "permissions", "accesslevel", "privileges"}
)

// proven are names of fields which state that a person's address is verified. addresses are names of fields that
// contain an address.
var (
	proven    = []string{"verified", "emailverified", "phoneverified", "identificationstatus", "confirmed", "emailconfirmed", "skipverification", "skipconfirmation"}
	addresses = []string{"email", "emailaddress", "phone", "phonenumber"}
)

// takesCredential reports whether op checks a credential in its body. Such an operation lets a caller guess
// credentials.
func takesCredential(d *Document, op *Operation) bool {
	if op.Body == nil || op.Body.PreferredContent() == nil || !slices.Contains([]string{"verify", "introspect", "introspection", "validate", "authenticate"}, lastOf(op.Path)) {
		return false
	}
	return slices.ContainsFunc(topOf(d, op.Body.PreferredContent().Schema, 0), secretnames.Credential)
}

// provesAddress reports whether the body of op can state that an address belongs to a person. Whoever reads mail
// there can then sign in.
func provesAddress(d *Document, op *Operation) bool {
	if op.Body == nil || op.Body.PreferredContent() == nil {
		return false
	}
	fields := topOf(d, op.Body.PreferredContent().Schema, 0)
	has := func(names []string) bool {
		return slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(names, f) })
	}
	return has(proven) && has(addresses)
}

// givesRights reports whether the body of op sets somebody's rights: the level of a user or group, or the role of an
// existing user. entry finds invitations and added members.
func givesRights(d *Document, op *Operation, name string) bool {
	if op.Body == nil || !slices.ContainsFunc(people, func(p string) bool { return strings.Contains(name, " "+p+" ") }) {
		return false
	}
	content := op.Body.PreferredContent()
	if content == nil {
		return false
	}
	fields := topOf(d, content.Schema, 0)
	return slices.ContainsFunc(fields, func(f string) bool {
		return slices.Contains(levels, f) || strings.Contains(f, "rolemapping") || op.Method != "POST" && slices.Contains(roles, f)
	})
}

// topOf returns the names of the top-level properties of a schema, in lower case without separators.
func topOf(d *Document, r Raw, depth int) (names []string) {
	if d == nil || r == nil || depth > 4 {
		return nil
	}
	s := d.Schema(r)
	for _, p := range s.Properties {
		names = append(names, strings.Join(secretnames.Words(p.Name), ""))
	}
	for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		names = append(names, topOf(d, part, depth+1)...)
	}
	return names
}

package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// vaults are groups of operations that are about nothing but credentials.
var vaults = []string{"secret", "credential", "token", "access token", "api key"}

// holdsKeys reports whether path is that of a collection of keys, called nothing else, or of one of them: /accounts/{id}/keys/{key}.
func holdsKeys(path string) bool {
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	if last := len(parts) - 1; last > 0 && strings.HasPrefix(parts[last], "{") {
		parts = parts[:last]
	}
	return strings.EqualFold(strings.TrimSuffix(parts[len(parts)-1], ".json"), "keys")
}

// keysOf are the words that make a credential of a key: "api key", and "apikey" as well.
var keysOf = []string{"access", "account", "activation", "api", "application", "auth", "bucket", "crypto", "deploy", "encryption", "gpg", "hmac", "master", "pgp", "private", "recovery", "root", "secret", "service",
	"setup", "shared", "signing", "ssh", "storage", "tsig", "unlock", "wrapping"}

// namesKey reports whether said, words separated by spaces, has a key that is a credential. Reading a person's GPG keys
// returns only their public part. But someone who adds a key can sign for that person.
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

// aPublicKey matches summaries of keys that anybody may see.
const aPublicKey = " public "

// public takes from the words of a read the keys that may be shown to anybody.
var public = strings.NewReplacer(" public key ", aPublicKey, " public ssh key ", aPublicKey, " public gpg key ", aPublicKey)

// version matches where a name goes on behind the number of a version: OAuth2Application.
var version = regexp.MustCompile(`([0-9])([A-Z][a-z])`)

// withoutVersion returns a word without the number of a version at its end: OAuth2.
func withoutVersion(w string) string {
	if stem := strings.TrimRight(w, "0123456789"); len(stem) >= 4 {
		return stem
	}
	return w
}

// people are the objects of an operation that can be given rights. levels and roles are the names of fields that give
// them.
var (
	people = []string{"user", "directory", "member", "membership", "account", "collaborator", "team", "group", "principal", "subject"}
	levels = []string{"admin", "isadmin", "superuser", "issuperuser", "isstaff", "siteadmin", "isowner", "rootrole", "globalrole", "accessrole"}
	roles  = []string{"role", "roles", "roleid", "roleids", "permission", "permissions", "accesslevel", "privileges"}
)

// proven are the names of fields that call an address of a person proven, and addresses those of the address.
var (
	proven    = []string{"verified", "emailverified", "phoneverified", "identificationstatus", "confirmed", "emailconfirmed", "skipverification", "skipconfirmation"}
	addresses = []string{"email", "emailaddress", "phone", "phonenumber"}
)

// takesCredential reports whether op checks a credential that its body gives: whoever can guess one learns whether it is right.
func takesCredential(d *Document, op *Operation) bool {
	if op.Body == nil || op.Body.PreferredContent() == nil || !slices.Contains([]string{"verify", "introspect", "introspection", "validate", "authenticate"}, lastOf(op.Path)) {
		return false
	}
	return slices.ContainsFunc(topOf(d, op.Body.PreferredContent().Schema, 0), secretnames.Credential)
}

// provesAddress reports whether the body of op can say that an address belongs to a person. Whoever reads mail there can sign in.
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

// givesRights reports whether the body of op sets somebody's rights: the level of a user or a group, or the role of an
// existing one. entry finds invitations and members who are added.
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

// topOf returns the names at the top of a schema, in small letters without separators.
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

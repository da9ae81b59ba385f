package secretnames

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// keysOfRecords lists words before "key" that mean an identifier instead of a credential.
var keysOfRecords = []string{"public", "pub", "primary", "foreign", "partition", "sort", "cache", "object", "file", "storage", "issue", "project", "idempotency", "index", "group", "map", "row", "routing", "translation", "type", "unique"}

var uuid = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Names of members in the same object as a possible credential, without separators. grants describe what the
// credential allows, who has it, and whether it is valid. things indicate that a key identifies the object.
var (
	grants = []string{"acl", "acls", "actions", "scope", "scopes", "permission", "permissions", "privileges", "abilities", "capabilities", "consumer", "consumerid", "revoked", "revokedat", "isrevoked", "ratelimit", "ratelimits",
		"allowedips", "ipwhitelist", "ipallowlist", "referers", "referrers", "lastused", "lastusedat", "lastuseddate", "algorithm", "collections", "indexes"}
	things = []string{"size", "sizebytes", "sizeinbytes", "bytes", "length", "etag", "contenttype", "mime", "mimetype", "mediatype", "bucket", "filename", "path", "url", "thumbnailurl", "sha", "sha256", "md5", "checksum", "version", "filekey", "nodeid", "ref"}
)

// IsRandomKey reports whether text is a credential although IDs and hashes may look the same. text is random letters
// and digits, or a UUID. name is the name of the text in an object, and beside contains the names of the other
// members. The name must be exactly key or value. The object must say what the key allows (scopes, acl, actions). It
// must not have a member that is typical of files, versions and records with a key.
func IsRandomKey(name, text string, beside iter.Seq[string]) bool {
	value := strings.EqualFold(name, "value")
	if !value && !isKeyName(name) || !random(text) {
		return false
	}
	rights, key := 0, false
	for other := range beside {
		switch plain := strings.Join(Words(other), ""); {
		case slices.Contains(things, plain), plain == "value" && !value:
			return false
		case slices.Contains(grants, plain):
			rights++
		case plain == "key" && value:
			key = true
		}
	}
	return rights > 0 && !key
}

// IsKeyValueEntry reports whether an object is an entry of a key-value store, judged by the names of its other
// members. In such an entry, the key is not a secret. etcd returns keys in base64: {"key", "create_revision",
// "mod_revision", "version", "value"}.
func IsKeyValueEntry(beside iter.Seq[string]) bool {
	for other := range beside {
		switch strings.Join(Words(other), "") {
		case "value", "createrevision", "modrevision":
			return true
		}
	}
	return false
}

// IsKeySetting reports whether text is the secret value of a setting named key: {name: "Webhook key", value:
// "9f86d081…"}.
func IsKeySetting(setting, text string) bool { return isKeyName(setting) && random(text) }

// isKeyName reports whether a name is the name of a key that may be a credential.
func isKeyName(name string) bool {
	words := Words(name)
	last := len(words) - 1
	return words[last] == "key" && !(last > 0 && slices.Contains(keysOfRecords, words[last-1]))
}

// random reports whether text looks random.
func random(text string) bool {
	return Random(text) && !strings.Contains(text, "/") || uuid.MatchString(text)
}

package scaffold

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// storeNames matches names of classes, as lower-case words joined by "_", whose records are credentials.
var storeNames = regexp.MustCompile(`(?:^|_)(?:` +
	`\w*sessions?|\w*tokens?|\w*secrets?|\w*credentials?|oauth\w*|oath\w*|otp|totp|mfa|tfa|webauthn|jwt|` +
	`\w*passwords?|passkeys?|passcodes?|\w*backupcodes?|rememberme|remember_me|two_?factor\w*|second_factors?|` +
	`(?:api|access|private|signing|encryption|crypto|deployment|hmac|ssh|master)_?keys?|` +
	`(?:login|sign_in|registration|verification|recovery|auth|authorization|access|backup|activation|reset|confirmation|one_time)_(?:codes?|links?|records?)|` +
	`\w*activation|(?:user|customer|account|password)_recovery|push_subscriptions?)(?:$|_)`)

// bookkeeping lists words in names of tables that migration tools keep for themselves.
var bookkeeping = []string{"migration", "migrations", "flyway", "alembic", "goose", "knex", "databasechangelog", "databasechangeloglock", "diesel", "prisma"}

// hiddenClass returns why c should be hidden: its name suggests credentials, or the bookkeeping of a tool.
func hiddenClass(c *schema.Class) string {
	words := denylist.Words(c.Name)
	if storeNames.MatchString(strings.Join(words, "_")) {
		return "it looks like a store of credentials"
	}
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(bookkeeping, w) }) {
		return "it looks like the bookkeeping of a migration tool"
	}
	return ""
}

// settingsNames matches names of classes that hold settings by name, and connectionNames those that describe connections
// to other systems. Either holds passwords and keys among other things.
var (
	settingsNames = regexp.MustCompile(`(?:^|_)(?:\w*settings?|options?$|\w*configs?|configurations?|rad(?:group)?(?:check|reply)|preferences?|prefs|\w*macros?|parameter_values?|client_attributes?|variables?|env|systems?|` +
		`user_?meta|site_?meta|config_(?:data|parameters?|entry)|key_?values?|plugin_?(?:store|key)\w*|media_type_param)(?:$|_)`)
	connectionNames = regexp.MustCompile(`(?:^|_)(?:connectors?|\w*providers?|idp|sso|saml|oidc|ldap|integrations?|addons?|\w*hooks?|captcha|smtp|gateways?|mail_?servers?|databases?|login_methods?|identity_credentials?)(?:$|_)`)
	// bareNames matches fields that hold credentials whatever their class.
	bareNames = regexp.MustCompile(`^(?:env|env_vars?|environment_(?:variables|vars)|(?:mfa|tfa|two_factor)_(?:verifications?|data|config)|(?:import|mirror|push)_ur[il]|(?:terraform|provisioner)_state|tfstate|keys|tokens|` +
		`(?:provider|smtp|imap|ldap|oauth|sso|auth|connection)_(?:config|settings|options|details|metadata))$`)
	settingValues   = []string{"value", "values", "content", "configvalue", "pvalue", "settings"}
	connectionParts = []string{"config", "configuration", "settings", "options", "parameters", "params", "headers", "properties", "cfg", "payload", "credentials", "details"}
)

// secretField returns why a field should be denied although its own name doesn't suggest a credential: the class suggests
// it, or its sampled values do.
func secretField(c *schema.Class, f *schema.Field, seen Seen) string {
	words, class := denylist.Words(f.Name), strings.Join(denylist.Words(c.Name), "_")
	last := words[len(words)-1]
	switch {
	case f.Type == schema.Boolean || f.Type == schema.Date || f.Type == schema.Day || keyed(c, f.Name):
		return ""
	case slices.Contains(settingValues, last) && settingsNames.MatchString(class):
		return "settings may hold passwords and keys"
	case slices.Contains(connectionParts, last) && connectionNames.MatchString(class):
		return "connections to other systems are described with passwords and keys"
	case !numeric(f.Type) && bareNames.MatchString(strings.Join(words, "_")), last == "community" && (strings.Contains(class, "snmp") || class == "nas"), last == "url" && strings.Contains(class, "mirror"):
		return "such fields often hold passwords and keys"
	case len(words) == 1 && (last == "hash" && person(c.Name) || last == "code" && strings.HasPrefix(class, "invit")):
		return "it may let somebody in"
	}
	return seen.secret(f)
}

// keyed reports whether a field is of the key of c or of a pointer: it identifies records, and can't be left out without
// leaving out what agents work with.
func keyed(c *schema.Class, name string) bool {
	return slices.Contains(c.Key, name) || slices.ContainsFunc(c.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, name) })
}

// Hides reports whether init hides a class for its name alone, so that its records need not be looked at.
func Hides(c *schema.Class) bool { return hiddenClass(c) != "" }

func numeric(t schema.Type) bool {
	return t == schema.Integer || t == schema.Double || t == schema.Decimal
}

package scaffold

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// storeNames matches names of classes whose records are credentials. The names are lower-case words joined by "_".
var storeNames = regexp.MustCompile(`(?:^|_)(?:` +
	`\w*sessions?|\w*tokens?|\w*secrets?|\w*credentials?|oauth\w*|oath\w*|otp|totp|mfa|tfa|webauthn|jwt|` +
	`\w*passwords?|passkeys?|passcodes?|\w*backupcodes?|rememberme|remember_me|two_?factor\w*|second_factors?|` +
	`(?:api|access|private|signing|encryption|crypto|deployment|hmac|ssh|master)_?keys?|` +
	`(?:login|sign_in|registration|verification|recovery|auth|authorization|access|backup|activation|reset|confirmation|one_time)_(?:codes?|links?|records?)|` +
	`\w*activations?$|(?:user|customer|account|password)_recovery|push_subscriptions?)(?:$|_)`)

// otherSessions matches names of classes with sessions that are not sign-ins, such as trainings, uploads or traces.
var otherSessions = regexp.MustCompile(`(?:^|_)(?:traces?|uploads?|\w*checks?|training|course|class|chat|game|play|study|therapy|consultation|coaching|work|time|conference|charging|parking|checkout|payment|live|stream|streaming|import|export|tracking|replays?|visitor|` +
	`debug|conversation|exam|quiz|review|table|poker|yoga|gym|lab|research|interview|workshop|counting|inventory|cash|register|pos|shopping|form|survey|recording)_?sessions?(?:$|_)|(?:^|_)sessions?_(?:replays?|recordings?|events?|data|notes|speakers?|attendees?|bookings?|types?)(?:$|_)`)

// bookkeeping lists words in names of tables that migration tools create for themselves.
var bookkeeping = []string{"migration", "migrations", "flyway", "alembic", "goose", "knex", "databasechangelog", "databasechangeloglock", "diesel", "prisma"}

// hiddenClass returns the reason to hide c, or "". The name may suggest credentials or the bookkeeping of a tool.
func hiddenClass(c *schema.Class) string {
	words := secretnames.Words(c.Name)
	if joined := strings.Join(words, "_"); storeNames.MatchString(joined) && !otherSessions.MatchString(joined) {
		return "it looks like a store of credentials"
	}
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(bookkeeping, w) }) {
		return "it looks like the bookkeeping of a migration tool"
	}
	return ""
}

// settingsNames matches names of classes that contain settings by name. connectionNames matches classes that describe
// connections to other systems. Both often contain passwords and keys. doorNames matches classes with links and codes
// that give access. accessNames matches classes of programs and devices that sign in. vaultNames matches classes of
// things that people keep secret.
var (
	settingsNames = regexp.MustCompile(`(?:^|_)(?:\w*settings?|options?$|\w*configs?|configurations?|rad(?:group)?(?:check|reply)|preferences?|prefs|\w*macros?|parameter_values?|client_attributes?|variables?|environments?|env|systems?|` +
		`user_?meta|site_?meta|config_(?:data|parameters?|entry)|key_?values?|kvs?|plugin_?(?:store|key)\w*|media_type_param|\w*_?store)(?:$|_)`)
	connectionNames = regexp.MustCompile(`(?:^|_)(?:auth|authentications?|connect(?:or|ion)s?|\w*providers?|idp|sso|saml|oidc|oauth|ldap|\w*auth_?methods?|users_auth\w*|integrations?|addons?|\w*hooks?|callouts?|captcha|smtp|imap|gateways?|mail_?servers?|\w*transports?|databases?|data_?sources?|datasources?|login_methods?|` +
		`identity_credentials?|external_accounts?|\w*webservices?|resources?|resource_types?|prototypes?|notifications?|notifiers?|notification_polic(?:y|ies)|alert_?channels?|contact_?points?|modules_?configs?|storages?|backends?|registr(?:y|ies)|(?:\w*_)?sources?|\w*sync_source\w*|channels?|payment_methods?|eapm|clusters?|destinations?|sinks?|` +
		`monitors?|actions?|bots?|scanners?|drivers?|plugins?|apps?|installations?|organi[sz]ations?|proxies)(?:$|_)`)
	doorNames   = regexp.MustCompile(`(?:^|_)(?:\w*invit(?:e|es|ed|ation|ations)|\w*shares?|\w*share_?links?\w*|shared_?links?|public_?links?|magic_?links?|gdpr|pending|(?:temp|pending)_users?|registration_tickets?|registrations?|confirmations?|verifications?|\w*snapshots?)(?:$|_)`)
	accessNames = regexp.MustCompile(`(?:^|_)(?:apis?|api_?logs?|scan_?agents?|scanners?|agents?|\w*hooks?|sends|ciphers?|devices?|clients?|\w*accounts?|bots?|\w*keys?|\w*grants?|\w*endpoints?|\w*applications?|\w*certificates?|pushover|telegram|licen[sc]es?|\w*subscriptions?)$`)
	vaultNames  = regexp.MustCompile(`(?:^|_)(?:vaults?|vault_?items?|ciphers?|safes?|(?:user|team)_?collections?)(?:$|_)`)
	// bareNames matches fields that contain credentials in any class.
	bareNames = regexp.MustCompile(`(?:^|_)(?:env|envs|env_vars?|environ|environment_(?:variables|vars|file)|variables|var_sources|(?:request_|http_|custom_|extra_)?headers|sasl_(?:options|config)|grpc_metadata)$|` +
		`(?:^|_)(?:extra_)?vars$|(?:^|_)(?:start_args|job_env|ccache|e2e\w*|key_(?:data|material|content|pem|file))$|(?:^|_)(?:delete|unsubscribe|invite|invitation|share|signed|presigned|magic|reset|confirm|confirmation|activation|verification)_ur[il]$|` +
		`^(?:(?:mfa|tfa|two_factor)_(?:verifications?|data|config)|(?:import|mirror|push)_ur[il]|(?:terraform|provisioner)_state|tfstate|keys|tokens|legacy_auth|\w*two_?factor_remember|` +
		`(?:provider|smtp|imap|ldap|oauth|sso|auth|connection|partner)_(?:config|configurations?|settings|options|details|metadata|params|response)(?:_json|_data|_text|_blob)?|(?:\w*_)?(?:certificate|cert|pfx|p12|pkcs12|pem|keystore|truststore)|(?:code|token|auth)_response|(?:sqlalchemy|db|jdbc|broker|proxy|remote)_ur[il]|(?:guest|share|public|secret)_?link\w*)$|` +
		`(?:^|_)(?:csv|ics|ical|calendar|feed|rss|atom|export|embed|unsubscribe)_(?:uuid|key|hash|slug|code)$|(?:^|_)(?:webhook|hook)_(?:endpoint|link|address)$|` +
		`(?:^|_)(?:(?:guest|reset|invite|share|edit|admin|verify|confirm|access|secret)_(?:uuid|hash|slug|guid|uid)|data_(?:2fa|tfa|mfa|totp)|(?:2fa|tfa|mfa|totp)_(?:data|config|settings)|id_(?:rsa|dsa|ecdsa|ed)|\w+_private|\w*challenge|\w*session|session_signature|(?:apprise|notification|notify|gotify|ntfy|slack|discord|teams|telegram|mattermost|rocketchat)_\w*ur[il]s?)$`)
	settingValues   = []string{"value", "val", "values", "content", "configvalue", "pvalue", "settings", "json", "data"}
	connectionParts = []string{"config", "configuration", "configurations", "settings", "options", "parameters", "params", "headers", "properties", "cfg", "configs", "preferences", "extra", "input", "notification", "payload", "credentials", "details", "data", "targets", "source", "cert", "certificate"}
	doorParts       = []string{"key", "code", "hash", "link", "url", "slug", "uuid", "identifier", "id"}
	accessParts     = []string{"key", "code", "hash", "auth"}
	vaultParts      = []string{"data", "value", "values", "content", "test", "key", "secret", "notes"}
	personParts     = []string{"hash", "key", "reset", "recover", "remember", "persist", "rands", "confirmation", "invite", "services"}
	namesOfValues   = []string{"key", "name", "setting", "option", "variable", "code", "param", "parameter", "property", "attribute"}
)

// harmlessPairs matches names of classes of name-value pairs that agents work with, such as labels, translations and
// answers.
var harmlessPairs = regexp.MustCompile(`(?:^|_)(?:labels?|tags?|translations?|locales?|languages?|currenc(?:y|ies)|\w*fields?|answers?|votes?|metrics?|statistics?|stats|scores?|tax(?:es)?|rates?|enums?|lookups?|choices?|facets?|filters?|dimensions?|concepts?|products?|variants?|swatch\w*|attributes?|options?|totals?)(?:$|_)`)

// secretField returns the reason to deny a field whose name doesn't suggest a credential, or "". The class or the
// sampled values may suggest one.
func secretField(c *schema.Class, f *schema.Field, seen samples.Seen) string {
	words, class := secretnames.Words(f.Name), strings.Join(secretnames.Words(c.Name), "_")
	last, name := words[len(words)-1], strings.Join(words, "_")
	is := func(parts []string, classes *regexp.Regexp) bool {
		return slices.Contains(parts, last) && classes.MatchString(class)
	}
	alone := len(words) == 1
	switch {
	case secretnames.FormOf(f.Type) != secretnames.AnyForm || isKeyField(c, f.Name):
		return ""
	case is(settingValues, settingsNames) || last == "value" && pairs(c) && !harmlessPairs.MatchString(class):
		return "settings may hold passwords and keys"
	case is(connectionParts, connectionNames) && (last != "source" || f.Type == schema.JSON), (last == "config" || last == "configuration") && !numeric(f.Type):
		return "connections to other systems are described with passwords and keys"
	case bareNames.MatchString(name), last == "environment" && (f.Type == schema.JSON || runs.MatchString(class)), last == "community" && networks.MatchString(class), last == "url" && (strings.Contains(class, "mirror") || hooks.MatchString(class)):
		return "such fields often hold passwords and keys"
	case opensByKey(words), alone && (last == "auth" || last == "sid"), last == "nonce":
		return "a key that opens something, by its name"
	case alone && (slices.Contains(personParts, last) && person(c.Name) || slices.Contains(accessParts, last) && accessNames.MatchString(class)), alone && strings.HasSuffix(last, "hash") && !contentNames.MatchString(class),
		(alone || strings.Contains(class, words[0])) && is(doorParts, doorNames) || name == "reset_uuid":
		return "it may let somebody in"
	case alone && slices.Contains([]string{"uuid", "slug", "hash", "code"}, last) && hasOwnPassword(c, class, last):
		return "it may be a link that a password protects, or a code"
	case is(vaultParts, vaultNames):
		return "people keep secrets in it"
	}
	if why := seen.Secret(f); why != "" {
		return why
	}
	return unsampledReason(f, last, seen)
}

// unsampledReason returns the reason to deny a field because no values could be sampled, or "". JSON objects and
// bytes may contain anything. While a gateway runs, it samples the values of visible columns again.
func unsampledReason(f *schema.Field, last string, seen samples.Seen) string {
	switch {
	case f.Type != schema.JSON && f.Type != schema.Bytes, seen.Values > 0, slices.Contains(listed, last), f.Type == schema.Bytes && strings.HasSuffix(last, "id"):
		return ""
	}
	return "it may hold anything, and there are no values to tell from"
}

// opensByKey reports whether a name ends in a key that isn't a known key of records. For example, it accepts
// stream_key and enrolmentkey.
func opensByKey(words []string) bool {
	last := strings.TrimSuffix(words[len(words)-1], "s")
	stem, ok := strings.CutSuffix(last, "key")
	switch {
	case !ok || slices.Contains([]string{"mon", "don", "tur", "hoc", "joc", "whis", "lac"}, stem):
		return false
	case stem == "":
		return last == words[len(words)-1] && len(words) > 1 && !slices.Contains(recordKeys, words[len(words)-2])
	}
	return !slices.Contains(recordKeys, stem)
}

// recordKeys lists words before "key" that mean an identifier instead of a credential.
var recordKeys = []string{"public", "import", "export", "pub", "primary", "foreign", "partition", "sort", "cache", "object", "file", "storage", "store", "issue", "project", "idempotency", "index", "group", "map", "row", "routing", "translation", "type", "unique", "url", "external",
	"product", "payload", "response", "request", "parent", "child", "source", "target", "data", "job", "event", "log", "form", "profile", "preferences", "preference", "prop", "permission", "tenant", "topic", "event", "tracking", "analytics", "natural", "business", "candidate",
	"composite", "surrogate", "reference", "ref", "entity", "resource", "label", "name", "title", "message", "template", "config", "setting", "settings", "option", "meta", "metadata", "attribute", "property", "field", "column", "content", "section", "page", "feature", "flag",
	"metric", "dimension", "filter", "category", "lookup", "search", "slug", "locale", "language", "theme", "icon", "image", "asset", "queue", "lock", "dedup", "dedupe", "deduplication", "distribution", "shard", "hash", "range", "segment", "bucket", "armored", "ticket",
	"article", "document", "item", "order", "customer", "account", "role", "team", "task", "step", "state", "status", "action", "plugin", "module", "widget", "dashboard", "report", "environment", "variable", "sign", "experiment", "variant", "plan", "sku", "release", "space", "workspace"}

// listed lists last words of names of JSON fields that contain ids, words or display settings.
var listed = []string{"ids", "tags", "filters", "filter", "roles", "role", "permissions", "scopes", "scope", "types", "type", "positions", "position", "colors", "color", "labels", "label", "ranges", "range", "list", "lists", "limits", "flags", "features", "fields", "columns", "order",
	"ordering", "sort", "sorting", "layout", "words", "statuses", "status", "groups", "ips", "domains", "hosts", "languages", "locales", "reactions", "ancestors", "dates", "days", "hours", "period", "statistics", "stats", "counts", "histogram", "translations", "names", "name", "title",
	"titles", "description", "descriptions", "coordinates", "location", "bounds", "geometry", "geo", "polygon", "path", "breadcrumbs", "dimensions", "sizes", "weights", "prices", "price", "amounts", "totals", "taxes", "breakdown", "members", "users", "assignees", "watchers", "participants",
	"followers", "attendees", "categories", "category", "keywords", "aliases", "synonyms", "mentions", "emojis", "icons", "images", "photos", "schema", "mapping", "formats", "events", "conditions", "choices", "enum", "ratings", "scores", "votes", "versions", "version", "slots", "schedule",
	"availability", "countries", "currencies", "regions", "branches", "seats", "ingredients", "allergens", "genres", "skills", "languages", "address", "addresses", "options_order"}

// networks matches names of classes of devices that are queried by SNMP.
var networks = regexp.MustCompile(`snmp|^nas$|devices?$|routers?$|switch(?:es)?$|hosts?$`)

// runs matches names of classes of programs that run with an environment stored as text.
var runs = regexp.MustCompile(`(?:^|_)(?:tasks?|jobs?|builds?|runs?|steps?|executions?|deployments?)$`)

// hasOwnPassword reports whether each record of a class has its own password. Such records are shares, or people with
// a code.
func hasOwnPassword(c *schema.Class, class, last string) bool {
	if last == "code" && !person(c.Name) || last != "code" && person(c.Name) {
		return false
	}
	return slices.ContainsFunc(c.Fields, func(f schema.Field) bool { return strings.EqualFold(f.Name, "password") })
}

// hooks matches names of classes of addresses that receive events. Such an address is often a secret itself.
var hooks = regexp.MustCompile(`hooks?$`)

// contentNames matches names of classes whose hashes identify contents.
var contentNames = regexp.MustCompile(`(?:^|_)(?:\w*files?|\w*images?|media|\w*attachments?|\w*uploads?|commits?|blobs?|\w*events?|tasks?|transfers?|\w*meta|\w*configs?|blocks?|transactions?|documents?|cache\w*|quer(?:y|ies)|photos?|videos?|assets?|packages?|artifacts?|links?|urls?|pages?|posts?|articles?|nodes?|torrents?)$`)

// pairs reports whether the records of a class are mainly name-value pairs.
func pairs(c *schema.Class) bool {
	return len(c.Fields) <= 9 && slices.ContainsFunc(c.Fields, func(f schema.Field) bool {
		words := secretnames.Words(f.Name)
		return slices.Contains(namesOfValues, words[len(words)-1])
	})
}

// isKeyField reports whether a field belongs to the key of c or to a pointer. Such a field identifies records and
// must not be omitted, because agents need it.
func isKeyField(c *schema.Class, name string) bool {
	return slices.Contains(c.Key, name) || slices.ContainsFunc(c.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, name) })
}

// Hides reports whether init hides a class because of its name. The records of such a class don't need to be sampled.
func Hides(c *schema.Class) bool { return hiddenClass(c) != "" }

func numeric(t schema.Type) bool {
	return t == schema.Integer || t == schema.Double || t == schema.Decimal
}

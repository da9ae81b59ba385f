package scaffold

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// storeNames matches names of classes, as lower-case words joined by "_", whose records are credentials.
var storeNames = regexp.MustCompile(`(?:^|_)(?:` +
	`\w*sessions?|\w*tokens?|\w*secrets?|\w*credentials?|oauth\w*|oath\w*|otp|totp|mfa|tfa|webauthn|jwt|` +
	`\w*passwords?|passkeys?|passcodes?|\w*backupcodes?|rememberme|remember_me|two_?factor\w*|second_factors?|` +
	`(?:api|access|private|signing|encryption|crypto|deployment|hmac|ssh|master)_?keys?|` +
	`(?:login|sign_in|registration|verification|recovery|auth|authorization|access|backup|activation|reset|confirmation|one_time)_(?:codes?|links?|records?)|` +
	`\w*activations?$|(?:user|customer|account|password)_recovery|push_subscriptions?)(?:$|_)`)

// otherSessions matches names of classes of sessions in which nobody is signed in: of training, of uploads, of traces.
var otherSessions = regexp.MustCompile(`(?:^|_)(?:traces?|uploads?|\w*checks?|training|course|class|chat|game|play|study|therapy|consultation|coaching|work|time|conference|charging|parking|checkout|payment|live|stream|streaming|import|export|tracking|replays?|visitor|` +
	`debug|conversation|exam|quiz|review|table|poker|yoga|gym|lab|research|interview|workshop|counting|inventory|cash|register|pos|shopping|form|survey|recording)_?sessions?(?:$|_)|(?:^|_)sessions?_(?:replays?|recordings?|events?|data|notes|speakers?|attendees?|bookings?|types?)(?:$|_)`)

// bookkeeping lists words in names of tables that migration tools keep for themselves.
var bookkeeping = []string{"migration", "migrations", "flyway", "alembic", "goose", "knex", "databasechangelog", "databasechangeloglock", "diesel", "prisma"}

// hiddenClass returns why c should be hidden: its name suggests credentials, or the bookkeeping of a tool.
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

// settingsNames matches names of classes that hold settings by name, and connectionNames those that describe
// connections to other systems. Either holds passwords and keys among other things. doorNames are of links and codes
// that let somebody in, and accessNames of programs and devices that sign in. vaultNames are of things that people keep
// secret.
var (
	settingsNames = regexp.MustCompile(`(?:^|_)(?:\w*settings?|options?$|\w*configs?|configurations?|rad(?:group)?(?:check|reply)|preferences?|prefs|\w*macros?|parameter_values?|client_attributes?|variables?|environments?|env|systems?|` +
		`user_?meta|site_?meta|config_(?:data|parameters?|entry)|key_?values?|kvs?|plugin_?(?:store|key)\w*|media_type_param|\w*_?store)(?:$|_)`)
	connectionNames = regexp.MustCompile(`(?:^|_)(?:auth|authentications?|connect(?:or|ion)s?|\w*providers?|idp|sso|saml|oidc|oauth|ldap|\w*auth_?methods?|users_auth\w*|integrations?|addons?|\w*hooks?|callouts?|captcha|smtp|imap|gateways?|mail_?servers?|\w*transports?|databases?|data_?sources?|datasources?|login_methods?|` +
		`identity_credentials?|external_accounts?|\w*webservices?|resources?|resource_types?|prototypes?|notifications?|notifiers?|notification_polic(?:y|ies)|alert_?channels?|contact_?points?|modules_?configs?|storages?|backends?|registr(?:y|ies)|(?:\w*_)?sources?|\w*sync_source\w*|channels?|payment_methods?|eapm|clusters?|destinations?|sinks?|` +
		`monitors?|actions?|bots?|scanners?|drivers?|plugins?|apps?|installations?|organi[sz]ations?|proxies)(?:$|_)`)
	doorNames   = regexp.MustCompile(`(?:^|_)(?:\w*invit(?:e|es|ed|ation|ations)|\w*shares?|\w*share_?links?\w*|shared_?links?|public_?links?|magic_?links?|gdpr|pending|(?:temp|pending)_users?|registration_tickets?|registrations?|confirmations?|verifications?|\w*snapshots?)(?:$|_)`)
	accessNames = regexp.MustCompile(`(?:^|_)(?:apis?|api_?logs?|scan_?agents?|scanners?|agents?|\w*hooks?|sends|ciphers?|devices?|clients?|\w*accounts?|bots?|\w*keys?|\w*grants?|\w*endpoints?|\w*applications?|\w*certificates?|pushover|telegram|licen[sc]es?|\w*subscriptions?)$`)
	vaultNames  = regexp.MustCompile(`(?:^|_)(?:vaults?|vault_?items?|ciphers?|safes?|(?:user|team)_?collections?)(?:$|_)`)
	// bareNames matches fields that hold credentials whatever their class.
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

// harmlessPairs matches names of classes whose records are names and values that agents work with: labels, translations, answers.
var harmlessPairs = regexp.MustCompile(`(?:^|_)(?:labels?|tags?|translations?|locales?|languages?|currenc(?:y|ies)|\w*fields?|answers?|votes?|metrics?|statistics?|stats|scores?|tax(?:es)?|rates?|enums?|lookups?|choices?|facets?|filters?|dimensions?|concepts?|products?|variants?|swatch\w*|attributes?|options?|totals?)(?:$|_)`)

// secretField returns why a field should be denied although its own name doesn't suggest a credential: the class suggests
// it, or its sampled values do.
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

// unsampledReason returns why a column is denied if there are no values to look at, or "" if it isn't denied: objects
// in JSON and bytes may hold anything. The values of a column that is shown are looked at again while the gateway
// runs.
func unsampledReason(f *schema.Field, last string, seen samples.Seen) string {
	switch {
	case f.Type != schema.JSON && f.Type != schema.Bytes, seen.Values > 0, slices.Contains(listed, last), f.Type == schema.Bytes && strings.HasSuffix(last, "id"):
		return ""
	}
	return "it may hold anything, and there are no values to tell from"
}

// opensByKey reports whether the words of a name end in a key that isn't known to be of a record: stream_key, enrolmentkey.
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

// recordKeys are the words before "key" of a name that something is found by.
var recordKeys = []string{"public", "import", "export", "pub", "primary", "foreign", "partition", "sort", "cache", "object", "file", "storage", "store", "issue", "project", "idempotency", "index", "group", "map", "row", "routing", "translation", "type", "unique", "url", "external",
	"product", "payload", "response", "request", "parent", "child", "source", "target", "data", "job", "event", "log", "form", "profile", "preferences", "preference", "prop", "permission", "tenant", "topic", "event", "tracking", "analytics", "natural", "business", "candidate",
	"composite", "surrogate", "reference", "ref", "entity", "resource", "label", "name", "title", "message", "template", "config", "setting", "settings", "option", "meta", "metadata", "attribute", "property", "field", "column", "content", "section", "page", "feature", "flag",
	"metric", "dimension", "filter", "category", "lookup", "search", "slug", "locale", "language", "theme", "icon", "image", "asset", "queue", "lock", "dedup", "dedupe", "deduplication", "distribution", "shard", "hash", "range", "segment", "bucket", "armored", "ticket",
	"article", "document", "item", "order", "customer", "account", "role", "team", "task", "step", "state", "status", "action", "plugin", "module", "widget", "dashboard", "report", "environment", "variable", "sign", "experiment", "variant", "plan", "sku", "release", "space", "workspace"}

// listed are the last words of names of JSON that holds ids, words and settings of how things look.
var listed = []string{"ids", "tags", "filters", "filter", "roles", "role", "permissions", "scopes", "scope", "types", "type", "positions", "position", "colors", "color", "labels", "label", "ranges", "range", "list", "lists", "limits", "flags", "features", "fields", "columns", "order",
	"ordering", "sort", "sorting", "layout", "words", "statuses", "status", "groups", "ips", "domains", "hosts", "languages", "locales", "reactions", "ancestors", "dates", "days", "hours", "period", "statistics", "stats", "counts", "histogram", "translations", "names", "name", "title",
	"titles", "description", "descriptions", "coordinates", "location", "bounds", "geometry", "geo", "polygon", "path", "breadcrumbs", "dimensions", "sizes", "weights", "prices", "price", "amounts", "totals", "taxes", "breakdown", "members", "users", "assignees", "watchers", "participants",
	"followers", "attendees", "categories", "category", "keywords", "aliases", "synonyms", "mentions", "emojis", "icons", "images", "photos", "schema", "mapping", "formats", "events", "conditions", "choices", "enum", "ratings", "scores", "votes", "versions", "version", "slots", "schedule",
	"availability", "countries", "currencies", "regions", "branches", "seats", "ingredients", "allergens", "genres", "skills", "languages", "address", "addresses", "options_order"}

// networks matches names of classes of devices that are asked by SNMP.
var networks = regexp.MustCompile(`snmp|^nas$|devices?$|routers?$|switch(?:es)?$|hosts?$`)

// runs matches names of classes of programs that run in an environment, given as text.
var runs = regexp.MustCompile(`(?:^|_)(?:tasks?|jobs?|builds?|runs?|steps?|executions?|deployments?)$`)

// hasOwnPassword reports whether the records of a class have a password of their own: those of a share, or of a person with a code.
func hasOwnPassword(c *schema.Class, class, last string) bool {
	if last == "code" && !person(c.Name) || last != "code" && person(c.Name) {
		return false
	}
	return slices.ContainsFunc(c.Fields, func(f schema.Field) bool { return strings.EqualFold(f.Name, "password") })
}

// hooks matches names of classes of addresses that events are sent to. Such an address is often a secret itself.
var hooks = regexp.MustCompile(`hooks?$`)

// contentNames matches names of classes whose hashes are of contents.
var contentNames = regexp.MustCompile(`(?:^|_)(?:\w*files?|\w*images?|media|\w*attachments?|\w*uploads?|commits?|blobs?|\w*events?|tasks?|transfers?|\w*meta|\w*configs?|blocks?|transactions?|documents?|cache\w*|quer(?:y|ies)|photos?|videos?|assets?|packages?|artifacts?|links?|urls?|pages?|posts?|articles?|nodes?|torrents?)$`)

// pairs reports whether the records of a class are names and values, and little else.
func pairs(c *schema.Class) bool {
	return len(c.Fields) <= 9 && slices.ContainsFunc(c.Fields, func(f schema.Field) bool {
		words := secretnames.Words(f.Name)
		return slices.Contains(namesOfValues, words[len(words)-1])
	})
}

// isKeyField reports whether a field belongs to the key of c or to a pointer. Such a field identifies records. Agents need
// it for their work, so it can't be left out.
func isKeyField(c *schema.Class, name string) bool {
	return slices.Contains(c.Key, name) || slices.ContainsFunc(c.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, name) })
}

// Hides reports whether init hides a class because of its name, so that nobody needs to look at its records.
func Hides(c *schema.Class) bool { return hiddenClass(c) != "" }

func numeric(t schema.Type) bool {
	return t == schema.Integer || t == schema.Double || t == schema.Decimal
}

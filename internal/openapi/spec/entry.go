package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

var (
	// makes are verbs that admit somebody or make a thing. changes are verbs that change an existing thing.
	makes = []string{"create", "add", "new", "invite", "import", "enroll", "enrol", "assign", "join", "register", "provision", "put", "post", "store", "insert", "onboard", "promote", "make", "generate", "approve",
		"save", "bulk", "upsert", "set", "associate", "attach", "grant", "resend"}
	changes = []string{"update", "edit", "modify", "patch", "replace", "change", "configure", "enable", "disable", "activate", "deactivate", "reactivate"}
	// ways are the prepositions that end the object of a sentence.
	ways = []string{"to", "for", "of", "with", "by", "from", "in", "into", "as", "on", "at", "and", "or", "using", "via", "if", "that", "who", "whose", "per", "within", "under", "through", "inside"}
	// entrants are names of people or memberships that an operation can admit.
	entrants = []string{"user", "member", "membership", "collaborator", "invitation", "invite", "admin", "administrator", "owner", "maintainer", "teammate", "superuser", "operator", "staff", "staff account", "subuser"}
	// hooks are names of things that send events to an address.
	hooks = []string{"hook", "webhook", "webhook endpoint", "webhook subscription", "webhook policy", "webhook config", "webhook configuration", "webhook destination", "webhook integration", "webhook setting", "webhook url",
		"hook subscription", "event subscription", "event destination", "event endpoint", "event hook", "callback", "callback url"}
	// audiences are collections whose members don't get access to anything.
	audiences = regexp.MustCompile(`(?i)(?:^|[^t])list|audience|newsletter|campaign|queue|conference|pool|segment|\bsets?\b|cohort|topic|zone|cluster|loyalty|balancer|backend|lag\b|bond|vlan`)
)

// shares matches a summary that lets people see something: "Share a project with a group".
var shares = regexp.MustCompile(`(?i)\bwith (?:an? |the |other )?(?:user|group|team|member|people|person|organi[sz]ation|account|workspace)`)

// published matches a summary that lets everybody with a link see something: "Create a shared dashboard".
var published = regexp.MustCompile(`(?i)^(?:create|add|make|generate|publish|enable)s? (?:an? |the )?(?:public(?:ly)?|shared|sharing|share) (?:\w+ )?(?:link|url|dashboard|page|report|view|access)\b`)

// entry returns the kind of access that op opens, or "" if it opens none. The kinds are access for a person, events
// to an address, and access to a machine. op must not be a read.
func entry(op *Operation) Suspicion {
	if op.Method == "DELETE" || SuggestsRead(op) {
		return ""
	}
	segments := strings.Split(strings.Trim(op.Path, "/"), "/")
	last := segments[len(segments)-1]
	one := strings.HasPrefix(last, "{")
	if one && len(segments) > 1 {
		last = segments[len(segments)-2]
	}
	last = phrase(secretnames.Words(strings.TrimSuffix(last, ".json")))
	made, changed := objects(op, makes), objects(op, changes)
	switch {
	case matchesAny(hooks, made) || matchesAny(hooks, changed) || slices.Contains(hooks, last) && !strings.HasPrefix(verbOf(op), "test"):
		return SuspectHooks
	case opensMachine(op, last, made):
		return SuspectMachines
	case audiences.MatchString(op.Path):
		return ""
	case matchesAny(entrants, made), matchesAny([]string{"membership"}, changed), last == "share" && shares.MatchString(op.Summary), published.MatchString(op.Summary):
		return SuspectRights
	case slices.Contains(entrants, last) && !one && op.Method == "POST": // POST /teams/{id}/members
		return SuspectRights
	case slices.Contains(entrants[1:], last) && op.Method == "PUT", strings.TrimSuffix(verbOf(op), "s") == "invite": // PUT /teams/{id}/members/{user}
		return SuspectRights
	case (last == "user" || last == "team") && one && len(segments) > 3 && (op.Method == "PUT" || op.Method == "POST" && matchesAny([]string{"user", "team", "project team"}, made)) && strings.HasPrefix(segments[len(segments)-3], "{"): // PUT /groups/{id}/users/{user}
		return SuspectRights
	}
	return ""
}

// verbOf returns the first word of the summary of op, or of its id.
func verbOf(op *Operation) string {
	if op.Summary != "" {
		return secretnames.First(op.Summary)
	}
	return secretnames.First(ShortName(op.ID))
}

// opensMachine reports whether op opens a console or a rescue system.
func opensMachine(op *Operation, last string, made []string) bool {
	said := " " + last + " / " + strings.Join(made, " / ") + " "
	if op.Declared {
		said += "/ " + phrase(secretnames.Words(ShortName(op.ID))) + " "
	}
	said += "/ " + phrase(secretnames.Words(op.Summary)) + " "
	if strings.Contains(said, " rescue ") {
		return !strings.Contains(said, " unrescue ") && !strings.Contains(said, " disable rescue ") && !strings.Contains(said, " exit rescue ") && !strings.Contains(said, " leave rescue ")
	}
	ends := func(s string) bool { return s == "console" || strings.HasSuffix(s, " console") }
	return ends(last) || op.Method == "POST" && (last == "vnc" || last == "shell") || slices.ContainsFunc(made, ends) || strings.Contains(said, " request console ") || strings.Contains(said, " open console ") || strings.Contains(said, " sudo ")
}

// matchesAny reports whether one of objects equals one of terms or ends with it.
func matchesAny(terms, objects []string) bool {
	return slices.ContainsFunc(objects, func(object string) bool {
		return slices.ContainsFunc(terms, func(term string) bool { return object == term || strings.HasSuffix(object, " "+term) })
	})
}

// phrase returns the words in the singular, separated by spaces.
func phrase(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = secretnames.Singular(w)
	}
	return strings.Join(out, " ")
}

// objects returns the objects of the given verbs in the id and the summary of op. For databases_add_user and "Add a
// database user to a cluster", it returns "database user".
func objects(op *Operation, verbs []string) (out []string) {
	texts := []string{op.Summary, lastOf(op.Path)}
	if at := strings.LastIndexByte(strings.TrimSuffix(op.Path, "/"), '/'); at > 0 && slices.Contains(verbs, strings.ToLower(texts[1])) { // /bulk_users/add
		texts[1] += " " + lastOf(op.Path[:at])
	}
	if op.Declared {
		texts = append(texts, ShortName(op.ID))
	}
	for i, text := range texts {
		words := secretnames.Words(aside.ReplaceAllString(text, ""))
		at := slices.IndexFunc(words, func(w string) bool {
			return slices.Contains(verbs, w) || slices.Contains(verbs, strings.TrimSuffix(w, "s"))
		})
		if at < 0 || i == 0 && at > 0 || strings.HasPrefix(text, "{") {
			continue
		}
		object := words[at+1:]
		for len(object) > 0 && (slices.Contains(verbs, object[0]) || object[0] == "or" || object[0] == "update" || object[0] == "and") { // Add or update the membership
			object = object[1:]
		}
		if len(object) == 0 { // users.create
			object = words[:at]
		}
		if end := slices.IndexFunc(object, func(w string) bool { return slices.Contains(ways, w) }); end >= 0 {
			object = object[:end]
		}
		out = append(out, phrase(object))
	}
	return out
}

// secrets matches a sentence of a description which states that the response contains a secret. kept matches a
// sentence which states that it doesn't.
var (
	secrets = regexp.MustCompile(`\b(?:returns?|returned|includ(?:es?|ing)|contain(?:s|ing)?|shows?|reveals?|exposes?|retrieves?|gets?|gives?|with|has|have|holds?|downloads?|fetch(?:es)?|displays?|prints?)\b[^.;]{0,80}?` +
		`\b(?:passwords?|private keys?|secret keys?|secrets?|access tokens?|refresh tokens?|api keys?|credentials?|kube ?configs?|connection (?:strings?|uris?|urls?)|passphrases?|recovery codes?|plain ?text|clear ?text)\b`)
	kept = regexp.MustCompile(`\b(?:not|never|without|no|masked|redacted|omit(?:s|ted)?|hidden|hides?|except|excluding|excludes?|encrypted|hashed|protected|obfuscated|requires?|required|needs?|using|use|authenticat\w*|scopes?|header|permissions?|policy|policies|whether|if|must|status|count|number|list of names|names of|only the names?|metadata|expir\w*|belongs?|rotation|last used|provide|provided|you)\b|n't\b`)
)

// returnsSecret reports whether a sentence of op's description states that the response contains a secret.
func returnsSecret(op *Operation) bool {
	for sentence := range strings.SplitSeq(strings.ToLower(strings.ReplaceAll(op.Description, "\n", " ")), ". ") {
		if secrets.MatchString(sentence) && !kept.MatchString(sentence) {
			return true
		}
	}
	return false
}

package scaffold

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A guess is a rule for one class, found by names and types alone.
type guess struct {
	class     *schema.Class
	hidden    string // why the class is hidden; "" when it isn't
	field     string // the field that holds the tenant; "" for none
	through   string // the pointer to the class that has the tenant; "" for none
	canonical []string
	denied    []string // by the rule
	floor     []string // by the built-in floor, whatever the rule says
	large     []string
}

// tenantWords are what owners call a tenant, the likeliest first.
var tenantWords = []string{"tenant", "organisation", "organization", "org", "workspace", "company", "account"}

// guessRules guesses a rule for each class. floor are the fields that can be seen without any rule, by class.
func guessRules(classes []schema.Class, floor map[string][]string) []guess {
	out := make([]guess, len(classes))
	word := tenantWord(classes)
	for i := range classes {
		c := &classes[i]
		g := guess{class: c, hidden: credentialStore(c)}
		for _, f := range c.Fields {
			switch {
			case !slices.Contains(floor[c.FullName()], f.Name):
				g.floor = append(g.floor, f.Name)
			case private(f.Name):
				g.denied = append(g.denied, f.Name)
			case large(c, &f):
				g.large = append(g.large, f.Name)
			}
			if live := liveWhen(&f); live != "" {
				g.canonical = append(g.canonical, live)
			}
		}
		if len(g.floor)+len(g.denied) == len(c.Fields) {
			g.hidden = "nothing in it can be shown"
		}
		out[i] = g
	}
	if word != "" {
		scope(out, word)
	}
	return out
}

// tenantWord returns the word for a tenant that most classes have a field of; "" when none has.
func tenantWord(classes []schema.Class) string {
	best, most := "", 0
	for _, word := range tenantWords {
		n := 0
		for i := range classes {
			if tenantField(&classes[i], word) != "" {
				n++
			}
		}
		if n > most {
			best, most = word, n
		}
	}
	return best
}

// tenantField returns the field of c that names a tenant by word: org_id, orgId, org.
func tenantField(c *schema.Class, word string) string {
	for _, f := range c.Fields {
		switch strings.Join(words(f.Name), "_") {
		case word + "_id", word + "_uuid":
			return f.Name
		case word:
			if f.Type == schema.String || f.Type == schema.UUID || f.Type == schema.Integer {
				return f.Name
			}
		}
	}
	return ""
}

// scope finds which classes belong to tenants: by a field, as the class that such a field points to, or through a
// pointer. What has no way to a tenant is hidden: it may hold everybody's records.
func scope(guesses []guess, word string) {
	byName := map[string]*guess{}
	for i := range guesses {
		byName[guesses[i].class.Name] = &guesses[i]
	}
	for i := range guesses {
		g := &guesses[i]
		g.field = tenantField(g.class, word)
		for _, r := range g.class.Relations {
			target := byName[r.Target]
			if g.field != "" && len(r.Fields) == 1 && r.Fields[0] == g.field && target != nil && tenantField(target.class, word) == "" {
				target.field = r.TargetFields[0]
			}
		}
	}
	for found := map[*guess]string{nil: ""}; len(found) > 0; {
		found = map[*guess]string{} // kept apart, so that the shortest way wins
		for i := range guesses {
			if g := &guesses[i]; g.hidden == "" && g.field == "" && g.through == "" {
				if pointer := parent(g.class, byName); pointer != "" {
					found[g] = pointer
				}
			}
		}
		for g, pointer := range found {
			g.through = pointer
		}
	}
	for i := range guesses {
		if g := &guesses[i]; g.hidden == "" && g.field == "" && g.through == "" {
			g.hidden = "no way to a tenant was found, so it may hold everybody's records"
		}
	}
}

// parent returns the pointer of c to a class that has a tenant: one that is never null before others, and one to a
// thing before one to a person, who may have left it to somebody else.
func parent(c *schema.Class, byName map[string]*guess) string {
	best, score := "", -1
	for _, f := range c.Fields {
		for _, r := range c.Relations {
			target := byName[r.Target]
			if len(r.Fields) != 1 || r.Fields[0] != f.Name || target == nil || target.class == c || target.hidden != "" || target.field == "" && target.through == "" {
				continue
			}
			n := 0
			if f.NotNull {
				n += 2
			}
			if !person(r.Target) {
				n++
			}
			if n > score {
				best, score = f.Name, n
			}
		}
	}
	return best
}

func person(class string) bool {
	w := words(class)
	return slices.Contains([]string{"user", "users", "people", "person", "persons", "members", "employees", "accounts"}, w[len(w)-1])
}

// credentialStore says why c is hidden: by its name it holds credentials, or is a tool's own bookkeeping.
func credentialStore(c *schema.Class) string {
	w := words(c.Name)
	joined := strings.Join(w, "_")
	for _, part := range []string{"api_key", "apikey", "access_key", "private_key", "password", "passkey", "recovery_code", "two_factor"} {
		if strings.Contains(joined, part) {
			return "it looks like a store of credentials"
		}
	}
	for _, word := range w {
		switch strings.TrimSuffix(word, "s") {
		case "session", "token", "secret", "credential", "oauth", "otp", "totp", "mfa", "webauthn":
			return "it looks like a store of credentials"
		case "migration", "flyway", "alembic", "goose", "knex", "databasechangelog", "databasechangeloglock", "diesel", "prisma":
			return "it looks like the bookkeeping of a migration tool"
		}
	}
	return ""
}

// private reports whether a field's name says that it is not for outsiders.
func private(name string) bool {
	w := words(name)
	return len(w) > 1 && (w[0] == "internal" || w[0] == "private" || w[0] == "confidential")
}

// large reports whether a field looks heavy. Pointers and keys never are.
func large(c *schema.Class, f *schema.Field) bool {
	if slices.Contains(c.Key, f.Name) || slices.ContainsFunc(c.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, f.Name) }) {
		return false
	}
	w := words(f.Name)
	last := w[len(w)-1]
	switch f.Type {
	case schema.Bytes:
		return true
	case schema.String, schema.Any:
		return (f.Length == 0 || f.Length > 1000) && f.Values == nil && slices.Contains([]string{"body", "content", "contents", "html", "markdown",
			"transcript", "document", "fulltext", "text", "blob", "raw", "payload", "base64"}, last)
	case schema.JSON:
		return slices.Contains([]string{"payload", "raw", "request", "response", "snapshot", "document"}, last)
	}
	return false
}

// liveWhen returns what f says of a record that counts as live, as a member of a where object; "" for nothing.
func liveWhen(f *schema.Field) string {
	switch name := strings.Join(words(f.Name), "_"); {
	case (name == "deleted_at" || name == "archived_at" || name == "deleted_on") && !f.NotNull:
		return yamlText(f.Name) + ": null"
	case name == "deleted" || name == "is_deleted" || name == "archived" || name == "is_archived":
		switch f.Type {
		case schema.Boolean:
			return yamlText(f.Name) + ": {$ne: true}"
		case schema.Integer:
			return yamlText(f.Name) + ": {$ne: 1}"
		}
	}
	return ""
}

// words takes a name apart at its separators and humps, in lower case; there is at least one.
func words(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	if w := strings.Fields(b.String()); len(w) > 0 {
		return w
	}
	return []string{""}
}

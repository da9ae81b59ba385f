package scaffold

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A guess is a rule for one class, guessed from names and types.
type guess struct {
	class     *schema.Class
	hidden    string // why the class is hidden; "" if it isn't
	field     string // the field that holds the tenant; "" for none
	through   string // the pointer to the class with the tenant; "" for none
	canonical []string
	denied    []string // by the rule
	floor     []string // by name, whatever the rule says
	large     []string
}

// tenantWords are common names for a tenant, the likeliest first.
var tenantWords = []string{"tenant", "organisation", "organization", "org", "workspace", "company", "account"}

// guessRules guesses a rule for each class. floor is the fields visible without any rule, by class.
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

// tenantWord returns the name for a tenant that most classes have a field of; "" if none has.
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

// tenantField returns the field of c that holds a tenant called word: org_id, orgId, org.
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

// scope finds the classes that belong to tenants: by a field, as the target of such a field, or through a pointer. A
// class that leads to no tenant is hidden, since it may hold records of all tenants.
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
		found = map[*guess]string{} // a new map each round, so that the shortest path wins
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

// parent returns the pointer of c to a class that has a tenant. It prefers one that is never null, and one to a thing
// over one to a person, since a person may change tenants.
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

// credentialStore returns why c should be hidden: its name suggests credentials, or the bookkeeping of a tool.
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

// private reports whether a field's name marks it as internal.
func private(name string) bool {
	w := words(name)
	return len(w) > 1 && (w[0] == "internal" || w[0] == "private" || w[0] == "confidential")
}

// large reports whether a field looks heavy. Pointers and keys never do.
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

// liveWhen returns the condition on f for live records, as a member of a where object; "" for none.
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

// words splits a name at separators and capital letters, into lower case; the result has at least one element.
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

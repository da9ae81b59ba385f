package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// tenantWords lists common names for a tenant, the most likely first. The first plainWords of them always mean a
// tenant. The others often describe something else, such as a customer's company, so they require more evidence.
var tenantWords = []string{"tenant", "organisation", "organization", "org", "workspace", "team", "account", "company", "store", "shop", "site", "customer", "client"}

const plainWords = 5

// A Tenancy is one possible rule for the tenant of a record.
type Tenancy struct {
	Field  string   // the most common name of the field, such as org_id
	Target string   // the class whose records are the tenants, or "" if there is no such class
	Direct []string // the classes that contain the field
	Lost   []string // the classes without a path to a tenant. They would be hidden
	Total  int      // the number of classes that are not hidden for other reasons
	Count  int64    // the number of tenants, or 0 if not known

	word   string
	maybe  map[string]string // for each class without a path: its nullable pointer to a class with a tenant
	fields map[string]string // for each class: the field that contains the tenant
	paths  map[string]string // for each class: its pointer to a class with a tenant
	likely bool
}

// Likely reports whether init uses t if there is no answer.
func (t Tenancy) Likely() bool { return t.likely }

// String describes the evidence for t and the classes that it would hide.
func (t Tenancy) String() string {
	text := fmt.Sprintf("%s is in %d of %d classes", t.Field, len(t.Direct), t.Total)
	if t.Target != "" {
		text += ", and means a record of " + t.Target
	}
	if t.Count > 0 {
		text += fmt.Sprintf(" (%d known)", t.Count)
	}
	switch len(t.Lost) {
	case 0:
	case 1:
		text += ". " + t.Lost[0] + " leads to no tenant, and the rule hides it"
	default:
		text += fmt.Sprintf(". %d other classes lead to no tenant, and the rule hides them: %s", len(t.Lost), some(t.Lost))
	}
	return text
}

// some joins at most six names of a list.
func some(names []string) string {
	if len(names) > 6 {
		return strings.Join(names[:6], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// tenancies returns the possible tenancies, the most likely first. A tenancy is a field with the same meaning in
// several classes. It counts as likely only if its name means a tenant, or if it points to a class of tenants. It
// must also hide only few classes.
func tenancies(guesses []guess, e Evidence) []Tenancy {
	var out []Tenancy
	for i, word := range tenantWords {
		t := Tenancy{word: word, fields: map[string]string{}, paths: map[string]string{}}
		t.find(guesses)
		if len(t.Direct) == 0 {
			continue
		}
		t.reach(guesses)
		counts := func(class string) int64 { return e.Counts[guesses[0].class.Source+"."+class] }
		t.Count = counts(t.Target)
		t.likely = t.hasEnoughEvidence(i < plainWords, counts)
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b Tenancy) int {
		switch {
		case a.likely != b.likely && a.likely:
			return -1
		case a.likely != b.likely:
			return 1
		case len(a.Lost) != len(b.Lost):
			return len(a.Lost) - len(b.Lost)
		}
		return len(b.Direct) - len(a.Direct)
	})
	return out
}

// hasEnoughEvidence reports whether the evidence is sufficient to propose t. plain is true if the word always means a
// tenant.
func (t *Tenancy) hasEnoughEvidence(plain bool, counts func(class string) int64) bool {
	lost, direct := len(t.Lost), len(t.Direct)
	switch {
	case plain:
		return lost*2 <= t.Total && (direct > 1 || lost+direct < t.Total)
	case direct < 2:
		return false
	case t.Target == "":
		return direct*4 >= t.Total*3
	}
	most := int64(0)
	for _, name := range t.Direct {
		most = max(most, counts(name))
	}
	many := t.Count > 20 && t.Count*5 > most // a real tenant has many records
	return !many && direct*3 >= t.Total && lost*4 <= t.Total
}

// find sets the classes that have a tenant field, and the class of tenants.
func (t *Tenancy) find(guesses []guess) {
	names := map[string]int{}
	byName := classesByName(guesses)
	for i := range guesses {
		g := &guesses[i]
		if g.hidden == "" {
			t.Total++
		}
		f := tenantField(g.class, t.word, byName)
		if f == "" || g.hidden != "" || slices.Contains(g.floor, f) || !g.class.Field(f).Single() {
			continue
		}
		t.fields[g.class.Name] = f
		t.Direct = append(t.Direct, g.class.Name)
		if names[f]++; names[f] > names[t.Field] || t.Field == "" {
			t.Field = f
		}
	}
	for _, name := range t.Direct {
		target, key := pointsAt(byName[name].class, t.fields[name])
		if g := byName[target]; g != nil && g.hidden == "" && tenantField(g.class, t.word, byName) == "" {
			t.Target, t.fields[target] = target, key
		}
	}
	if t.Target == "" { // without declared pointers, find the class by its name
		for i := range guesses {
			if g := &guesses[i]; len(t.Direct) > 0 && g.hidden == "" && matchesWord(g.class.Name, t.word) && len(g.class.Key) == 1 && t.fields[g.class.Name] == "" {
				t.Target, t.fields[g.class.Name] = g.class.Name, g.class.Key[0]
				break
			}
		}
	}
}

// reach sets the classes that lead to a tenant through pointers, and the classes that don't.
func (t *Tenancy) reach(guesses []guess) {
	byName := classesByName(guesses)
	declares := slices.ContainsFunc(guesses, func(g guess) bool {
		return slices.ContainsFunc(g.class.Fields, func(f schema.Field) bool { return f.NotNull && !slices.Contains(g.class.Key, f.Name) })
	})
	t.follow(guesses, byName, declares, t.paths)
	t.maybe = map[string]string{}
	if declares {
		t.follow(guesses, byName, false, t.maybe)
	}
	for i := range guesses {
		if g := &guesses[i]; g.hidden == "" && t.fields[g.class.Name] == "" && t.paths[g.class.Name] == "" && t.maybe[g.class.Name] == "" {
			t.Lost = append(t.Lost, g.class.Name)
		}
	}
}

// follow adds to paths the classes that lead to a tenant through pointers. If strict is set, it uses only pointers
// that are never null.
func (t *Tenancy) follow(guesses []guess, byName map[string]*guess, strict bool, paths map[string]string) {
	for found := true; found; {
		t.alongKeys(guesses)
		next := map[string]string{} // a new map for each round, so that the shortest path is used
		for i := range guesses {
			g := &guesses[i]
			if name := g.class.Name; g.hidden == "" && t.fields[name] == "" && t.paths[name] == "" && t.maybe[name] == "" {
				if pointer := t.parent(g.class, byName, strict); pointer != "" && !slices.Contains(g.floor, pointer) {
					next[name] = pointer
				}
			}
		}
		for name, pointer := range next {
			paths[name] = pointer
		}
		found = len(next) > 0
	}
}

// alongKeys handles pointers of several fields that include the tenant of the target record. For example, (org_id,
// order_id) refers to (org_id, id). It then sets the tenant field of the class.
func (t *Tenancy) alongKeys(guesses []guess) {
	for i := range guesses {
		c := guesses[i].class
		for _, r := range c.Relations {
			at := slices.Index(r.TargetFields, t.fields[r.Target])
			if len(r.Fields) < 2 || at < 0 || t.fields[r.Target] == "" || t.fields[c.Name] != "" || guesses[i].hidden != "" || slices.Contains(guesses[i].floor, r.Fields[at]) {
				continue
			}
			t.fields[c.Name] = r.Fields[at]
			t.Direct = append(t.Direct, c.Name)
		}
	}
}

// parent returns the pointer of c to a class that has a tenant, or "". If strict is set, the pointer must never be
// null, because a record without it would have no tenant. It prefers a pointer to a thing over a pointer to a person,
// because a person may change tenants.
func (t *Tenancy) parent(c *schema.Class, byName map[string]*guess, strict bool) string {
	best, score := "", -1
	for _, f := range c.Fields {
		for _, r := range c.Relations {
			target := byName[r.Target]
			if len(r.Fields) != 1 || r.List || r.Fields[0] != f.Name || target == nil || target.class == c || target.hidden != "" || strict && !f.NotNull || t.fields[r.Target] == "" && t.paths[r.Target] == "" && t.maybe[r.Target] == "" {
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

// apply adds the tenancy to the guesses.
func (t *Tenancy) apply(guesses []guess) {
	for i := range guesses {
		g := &guesses[i]
		g.field, g.through = t.fields[g.class.Name], t.paths[g.class.Name]
		switch pointer := t.maybe[g.class.Name]; {
		case g.hidden != "" || g.field != "" || g.through != "":
		case pointer != "":
			g.hidden = "its way to a tenant, " + pointer + ", may be null. If records without one may stay unseen, write tenant: {through: " + pointer + "} instead"
		default:
			g.hidden = "it leads to no tenant, so it may hold everybody's records. If all tenants may share it, write {} instead"
		}
	}
}

// tenantField returns the field of c that contains the tenant for word. For example, it accepts org_id and orgId. It
// accepts org only if that is a pointer or a class has this name. A plain text, such as a customer's company name, is
// not a tenant.
func tenantField(c *schema.Class, word string, byName map[string]*guess) string {
	for _, f := range c.Fields {
		switch strings.Join(secretnames.Words(f.Name), "_") {
		case word + "_id", word + "_uuid":
			return f.Name
		case word:
			if target, _ := pointsAt(c, f.Name); target != "" || f.Type == schema.UUID {
				return f.Name
			}
		}
	}
	return ""
}

// matchesWord reports whether the last word of a class name is word, in the singular or plural.
func matchesWord(class, word string) bool {
	return slices.Contains(forms(word), lastWord(class))
}

func lastWord(class string) string {
	words := secretnames.Words(class)
	return words[len(words)-1]
}

// forms returns word in the singular and in the plural.
func forms(word string) []string {
	return []string{word, word + "s", strings.TrimSuffix(word, "y") + "ies"}
}

// pointsAt returns the class that a field points to and the key there, or "" if the field is not a pointer.
func pointsAt(c *schema.Class, field string) (target, key string) {
	for _, r := range c.Relations {
		if len(r.Fields) == 1 && r.Fields[0] == field {
			return r.Target, r.TargetFields[0]
		}
	}
	return "", ""
}

func classesByName(guesses []guess) map[string]*guess {
	byName := make(map[string]*guess, len(guesses))
	for i := range guesses {
		byName[guesses[i].class.Name] = &guesses[i]
	}
	return byName
}

// ownerField returns the field of c that contains the person who owns a record, or "".
func ownerField(c *schema.Class) string {
	for _, name := range []string{"owner_id", "owner", "user_id", "user", "author_id", "created_by_id", "created_by", "assignee_id"} {
		for _, f := range c.Fields {
			if strings.Join(secretnames.Words(f.Name), "_") != name {
				continue
			}
			if target, _ := pointsAt(c, f.Name); target != "" && person(target) || target == "" && strings.HasSuffix(name, "_id") {
				return f.Name
			}
		}
	}
	return ""
}

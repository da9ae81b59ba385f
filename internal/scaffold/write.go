package scaffold

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// A writer writes the configuration of one source.
type writer struct {
	b         strings.Builder
	source    Source
	guesses   []guess
	tenancies []Tenancy // all tenancies found
	tenancy   *Tenancy  // the chosen tenancy, or nil
	answers   Answers
	missed    []string // classes whose records could not be sampled

	applications []Preset // presets of the recognised applications
}

// mongoPassword is the environment variable for the password in the URL of a MongoDB source. The drivers of other
// databases read a variable of their own.
const mongoPassword = "MONGODB_PASSWORD"

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// rules returns the whole configuration, and the files that it includes.
func (w *writer) rules() (string, []File, error) {
	classes := w.classes()
	included := apart(w.source.File, classes)
	if included != nil && w.source.File == "" {
		return "", nil, errSeveral
	}
	w.head()
	if len(included) > 0 {
		w.include(included)
		return w.b.String(), included, nil
	}
	if len(classes) > 0 {
		w.b.WriteString("classes:\n" + strings.Join(classes, ""))
	}
	return w.b.String(), nil, nil
}

// errSeveral is the error for a database with too many classes for one file.
var errSeveral = errors.New("the database has so many classes that the configuration is made of several files. Name the first with --out, or choose some with --schema or --tables")

// classes returns the rules of each class.
func (w *writer) classes() (out []string) {
	for i := range w.guesses {
		w.class(&w.guesses[i])
		out = append(out, w.b.String())
		w.b.Reset()
	}
	return out
}

// apart distributes the rules of classes over files beside the file named name. It returns nil if one file is enough.
func apart(name string, classes []string) (out []File) {
	const one, each = 256 << 10, 128 << 10 // bytes. A file of 1 MiB, or with more than 40,000 keys and values, isn't read
	size := 0
	for _, text := range classes {
		size += len(text)
	}
	if size <= one {
		return nil
	}
	var b strings.Builder
	base := strings.TrimSuffix(name, filepath.Ext(name))
	end := func() {
		if b.Len() > 0 {
			out = append(out, File{Name: fmt.Sprintf("%s.classes-%02d.yaml", base, len(out)+1), Text: "classes:\n" + b.String()})
			b.Reset()
		}
	}
	for _, text := range classes {
		if b.Len()+len(text) > each {
			end()
		}
		b.WriteString(text)
	}
	end()
	return out
}

// include writes the list of the files with the rules of classes.
func (w *writer) include(files []File) {
	w.line("# The rules of the classes.")
	w.line("include:")
	for _, f := range files {
		w.line("  - %s", yamlText(f.Name))
	}
}

// head writes everything before the rules of classes.
func (w *writer) head() {
	w.line(`# Written by "bailiwick init". What is marked "confirm" was guessed from names and values: read it before agents are let in.`)
	w.line(`#   bailiwick check                                          what agents would see`)
	if w.tenancy == nil {
		w.line(`#   bailiwick token create --name my-agent                   a token for an agent`)
	} else {
		w.line(`#   bailiwick token create --name my-agent --tenant TENANT   a token for an agent`)
	}
	w.line(`#   bailiwick serve                                          let it in`)
	w.line("listen: %s   # where agents connect. Only this machine can reach it", config.DefaultListen)
	w.line("store: %s   # Bailiwick's own memory: tokens and the audit", config.DefaultStore)
	w.line("sources:")
	if w.source.WithPassword {
		variable := cmp.Or(config.KindOf(w.source.URL).Password, mongoPassword)
		w.line("  # The password is taken from the environment variable %s. Let the user be one that can only read.", variable)
	}
	if strings.HasPrefix(w.source.URL, "parse+") {
		w.parse()
	} else {
		address := quoteYAML(w.source.URL)
		if w.source.WithPassword { // the only variable. Other text that looks like a variable is escaped
			address = strings.Replace(address, "$${"+mongoPassword+"}", "${"+mongoPassword+"}", 1)
		}
		w.line("  %s: {url: %s%s}", w.source.Name, address, w.chosen())
	}
	if w.answers.Writes == Review {
		w.line("gates: {writes: review, raw_writes: review}   # agents with the scope write propose. Nothing runs before a person approves")
	} else {
		w.line("gates: {writes: off}   # agents only read; {writes: review, raw_writes: review} lets them propose changes that people approve")
	}
	w.line("")
	w.line("# A class that no rule names is hidden, so a table that is made later stays hidden until somebody decides.")
	if len(w.guesses) == 0 {
		w.line("# The database has no tables yet. A rule looks like this:")
		w.line("#classes:\n#  %s.issues: {tenant: {field: org_id, is: principal.tenant}}", w.source.Name)
		return
	}
	// First the rules for all classes, then the rule of each class.
	w.tenants()
	if len(w.missed) > 0 {
		w.line("# confirm: records of these classes could not be sampled, so that their fields were judged by name alone: %s.", some(w.missed))
	}
	for _, p := range w.applications {
		w.line("# These are tables of %s (%s): what is known of them is below, without a guess.", p.Name, some(p.Has))
	}
}

// chosen returns the keys of a source that choose schemas and tables.
func (w *writer) chosen() (out string) {
	list := func(key string, names []string, end string) {
		if len(names) > 0 {
			quoted := make([]string, len(names))
			for i, name := range names {
				quoted[i] = yamlText(name)
			}
			out += ", " + key + "[" + strings.Join(quoted, ", ") + "]" + end
		}
	}
	list("schemas: ", w.source.Schemas, "")
	list("tables: {only: ", w.source.Tables, "}")
	return out
}

// parse writes the source for a Parse Server. An agent acts as the user that it works for and sees what that user
// sees.
func (w *writer) parse() {
	w.line("  %s:", w.source.Name)
	w.line("    url: %s", quoteYAML(w.source.URL))
	w.line("    parse:")
	w.line("      app_id: ${PARSE_APP_ID}")
	w.line("      master_key: ${PARSE_MASTER_KEY}   # reads classes and permissions, and opens sessions for users")
	if w.source.RESTKey {
		w.line("      rest_key: ${PARSE_REST_KEY}")
	}
	w.line("      # confirm: whom agents act as. Each sees what the Parse user sees whom it works for: token create --owner OBJECT_ID.")
	w.line("      # See docs/parse.md for session, role, public and master.")
	w.line("      as: user")
	w.line("      user: principal.owner")
}

// tenants writes the tenancy and the evidence for it.
func (w *writer) tenants() {
	switch {
	case w.tenancy != nil:
		w.line("# confirm: an agent sees the records of its tenant alone. %s.", w.tenancy)
	case w.answers.Tenant == None:
		w.line("# There are no tenants: every agent sees every record of a class.")
	default:
		w.line("# confirm: nothing says for certain which tenant a record belongs to, so every agent sees every record of the classes below.")
		w.line("# That is right within one company. If records belong to customers who must not see each other's, decide before agents are let in.")
		for i := range w.tenancies {
			if t := &w.tenancies[i]; i < 3 {
				w.line("# Not taken: %s. To take it: bailiwick init --tenant %s", t, t.Field)
			}
		}
	}
}

// class writes the rule of one class. Each comment is above the lines that it explains.
func (w *writer) class(g *guess) {
	name := yamlKey(w.source.Name + "." + g.class.Name)
	if g.hidden != "" {
		w.line("  %s:", name)
		if g.preset != "" {
			w.line("    # %s: %s.", g.preset, g.hidden)
		} else {
			w.line("    # confirm: %s.", g.hidden)
		}
		w.line("    hidden: true")
		w.line("")
		return
	}
	if w.plain(g) {
		w.line("  %s: {}", name)
		w.comments(g)
		w.line("")
		return
	}
	w.line("  %s:", name)
	switch {
	case g.field != "" && slices.Contains(g.class.Key, g.field) && len(g.class.Key) == 1:
		w.line("    # confirm: a record is a tenant. An agent sees its own.")
		w.line("    tenant: {field: %s, is: principal.tenant}", yamlText(g.field))
	case g.field != "":
		w.line("    # confirm: this field says whose a record is.")
		w.line("    tenant: {field: %s, is: principal.tenant}", yamlText(g.field))
	case g.through != "":
		w.line("    # confirm: a record belongs to whoever what it points to belongs to%s.", unlessNull(g))
		w.line("    tenant: {through: %s}", yamlText(g.through))
	}
	w.writeDeclarations(g)
	if g.canonical != nil {
		w.line("    # confirm: what counts as a live record. A caller may switch it off.")
		w.line("    canonical: {%s}", strings.Join(g.canonical, ", "))
	}
	if g.masked != nil {
		w.line("    # confirm: personal data leaves masked, and nothing can be found or sorted by it: %s.", reasons(g.masked))
		w.line("    mask: {%s}", strings.Join(namesOf(g.masked), ", "))
	}
	if g.denied != nil {
		w.line("    # confirm: not for agents: %s.", reasons(g.denied))
		w.line("    denied: %s", yamlList(namesOf(g.denied)))
	}
	if g.large != nil {
		w.line("    # Heavy fields: shown when named, left out of samples and includes.")
		w.line("    large: %s", yamlList(g.large))
	}
	w.comments(g)
	w.line("")
}

// writeDeclarations writes labels, pointers and types that the source doesn't declare.
func (w *writer) writeDeclarations(g *guess) {
	if g.label != "" {
		w.line("    label: %s", yamlText(g.label))
	}
	if g.known != nil {
		w.line("    # %s: pointers that the database doesn't declare (%s).", g.preset, strings.Join(g.known, ", "))
	}
	if g.pointers != nil {
		w.line("    # confirm: pointers that the database doesn't declare. No record contradicts them.")
	}
	if all := slices.Concat(g.known, g.pointers); all != nil {
		w.line("    pointers: {%s}", strings.Join(all, ", "))
	}
	if g.doubts != nil {
		w.line("    # unsure: some records hold no key of that class, or no record has one. pointers: {%s}", strings.Join(g.doubts, ", "))
	}
	if g.types != nil {
		w.line("    # confirm: types that the database doesn't declare, as the sampled values show them.")
		w.line("    types: {%s}", strings.Join(g.types, ", "))
	}
}

// plain reports whether the rule of g is empty.
func (w *writer) plain(g *guess) bool {
	return g.field == "" && g.through == "" && g.canonical == nil && g.large == nil && g.denied == nil && g.masked == nil && g.pointers == nil && g.label == "" && g.known == nil && g.types == nil && g.doubts == nil
}

// namesOf returns the names in a list.
func namesOf(list []noted) []string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.name
	}
	return names
}

// reasons returns the distinct reasons in a list, in their order.
func reasons(list []noted) string {
	var out []string
	for _, n := range list {
		if !slices.Contains(out, n.why) {
			out = append(out, n.why)
		}
	}
	return strings.Join(out, "; ")
}

// unlessNull returns a warning if the tenant pointer may be null. A record with a null pointer belongs to no tenant.
func unlessNull(g *guess) string {
	if f := g.class.Field(g.through); f != nil && !f.NotNull {
		return "; where it is null, nobody sees the record"
	}
	return ""
}

// comments writes notes that have no effect as rules. They list fields that are denied only by name, visible fields
// with personal data, and a field that may contain a record's owner.
func (w *writer) comments(g *guess) {
	if g.floor != nil {
		w.line("    # Denied by their names, without a rule: %s.", strings.Join(yamlTexts(g.floor), ", "))
	}
	if g.texts != nil {
		key := "mask"
		if g.masked != nil {
			key = "add to mask"
		}
		w.line("    # %s: {%s}   # %s", key, strings.Join(namesOf(g.texts), ", "), reasons(g.texts))
	}
	for _, n := range g.personal {
		w.line("    # confirm: %s is %s, and is shown because records are known by it.", yamlText(n.name), n.why)
	}
	if f := ownerField(g.class); f != "" && w.tenancy == nil && !slices.Contains(g.floor, f) {
		w.line("    # To let each agent see only the records of its owner: tenant: {field: %s, is: principal.owner}", yamlText(f))
	}
}

var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// yamlText returns a name as YAML. It quotes the name if YAML would otherwise read it as something else.
func yamlText(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return quoteYAML(s)
	}
	if plainText.MatchString(s) {
		return s
	}
	return quoteYAML(s)
}

// yamlKey is like yamlText for keys. In a key, ${ is not expanded and needs no escape.
func yamlKey(s string) string { return strings.ReplaceAll(yamlText(s), "$${", "${") }

// quoteYAML returns text in quotes. JSON's quoting is valid YAML. It escapes ${, which would otherwise be expanded.
// It also escapes characters that are invisible or change the writing direction, because people read the file.
func quoteYAML(s string) string {
	b, _ := json.Marshal(strings.ReplaceAll(s, "${", "$${")) // a string can always be encoded
	var out strings.Builder
	for _, r := range string(b) {
		if unicode.IsGraphic(r) && !unicode.Is(unicode.Bidi_Control, r) || r > 0xffff {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

func yamlList(names []string) string { return "[" + strings.Join(yamlTexts(names), ", ") + "]" }

func yamlTexts(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = yamlText(n)
	}
	return out
}

package scaffold

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// writeRules returns the configuration of one source. word is the name for a tenant; "" if none was found.
func writeRules(s Source, word string, guesses []guess) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`# Written by "bailiwick init". What is marked "confirm" was guessed from names: read it before agents are let in.`)
	line(`#   bailiwick check                                          what agents would see`)
	if word == "" {
		line(`#   bailiwick token create --name my-agent                   a token for an agent`)
	} else {
		line(`#   bailiwick token create --name my-agent --tenant TENANT   a token for an agent`)
	}
	line(`#   bailiwick serve                                          let it in`)
	line("listen: %s   # where agents connect; only this machine can reach it", config.DefaultListen)
	line("store: %s   # Bailiwick's own memory: tokens and the audit", config.DefaultStore)
	line("sources:")
	if s.WithPassword {
		variable := "PGPASSWORD"
		if (config.Source{URL: s.URL}).MariaDB() {
			variable = "MYSQL_PWD"
		}
		line("  # The password is taken from the environment variable %s. Let the user be one that can only read.", variable)
	}
	line("  %s: {url: %s}", s.Name, yamlQuoted(s.URL))
	line("")
	line("# A class that no rule names is hidden, so a table that is made later stays hidden until somebody decides.")
	switch {
	case len(guesses) == 0:
		line("# The database has no tables yet. A rule looks like this:")
		line("#classes:\n#  %s.issues: {tenant: {field: org_id, is: principal.tenant}}", s.Name)
		return b.String()
	case word == "":
		line("# confirm: no field was found that says whose a record is, so every agent sees every record of a class.")
	}
	line("classes:")
	for i := range guesses {
		writeRule(line, s.Name, &guesses[i])
	}
	return b.String()
}

// writeRule writes the rule of one class; a comment precedes what it is about.
func writeRule(line func(string, ...any), source string, g *guess) {
	name := yamlText(source + "." + g.class.Name)
	if g.hidden != "" {
		line("  %s:", name)
		line("    # confirm: %s.", g.hidden)
		line("    hidden: true")
		line("")
		return
	}
	if g.field == "" && g.through == "" && g.canonical == nil && g.large == nil && g.denied == nil {
		line("  %s: {}", name)
		writeFloor(line, g)
		line("")
		return
	}
	line("  %s:", name)
	switch {
	case g.field != "" && slices.Contains(g.class.Key, g.field) && len(g.class.Key) == 1:
		line("    # confirm: a record is a tenant; an agent sees its own.")
		line("    tenant: {field: %s, is: principal.tenant}", yamlText(g.field))
	case g.field != "":
		line("    # confirm: this field says whose a record is.")
		line("    tenant: {field: %s, is: principal.tenant}", yamlText(g.field))
	case g.through != "":
		line("    # confirm: a record belongs to whoever what it points to belongs to%s.", unlessNull(g))
		line("    tenant: {through: %s}", yamlText(g.through))
	}
	if g.canonical != nil {
		line("    # confirm: what counts as a live record; a caller may switch it off.")
		line("    canonical: {%s}", strings.Join(g.canonical, ", "))
	}
	if g.denied != nil {
		line("    # confirm: not for agents, by its name.")
		line("    denied: %s", yamlList(g.denied))
	}
	if g.large != nil {
		line("    # Heavy fields: shown when named, left out of samples and includes.")
		line("    large: %s", yamlList(g.large))
	}
	writeFloor(line, g)
	line("")
}

// unlessNull returns a warning if the pointer may be null: such records belong to no tenant.
func unlessNull(g *guess) string {
	if f := g.class.Field(g.through); f != nil && !f.NotNull {
		return "; where it is null, nobody sees the record"
	}
	return ""
}

// writeFloor lists the fields that are denied by name, whatever the rule says.
func writeFloor(line func(string, ...any), g *guess) {
	if g.floor != nil {
		names := make([]string, len(g.floor))
		for i, n := range g.floor {
			names[i] = yamlText(n)
		}
		line("    # Denied by their names, without a rule: %s.", strings.Join(names, ", "))
	}
}

var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// yamlText returns a name as YAML, quoted if YAML would read it as something else.
func yamlText(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return yamlQuoted(s)
	}
	if plainText.MatchString(s) {
		return s
	}
	return yamlQuoted(s)
}

// yamlQuoted returns a quoted text. JSON's quoting is valid YAML; ${ is escaped, since it would be expanded.
func yamlQuoted(s string) string {
	b, _ := json.Marshal(strings.ReplaceAll(s, "${", "$${")) // a string always encodes
	return string(b)
}

func yamlList(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = yamlText(n)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

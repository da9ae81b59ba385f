package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// An apiWriter writes the configuration of an API.
type apiWriter struct {
	API
	d       *spec.Document
	title   string
	rpc     bool
	classes *spec.Classifier
	b       strings.Builder
}

func (w *apiWriter) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// write writes the configuration, with a comment wherever a person should check it. Every operation is listed under
// its class. Operations that a later document adds are excluded, so that nothing becomes visible without a person's
// decision.
func (w *apiWriter) write() {
	w.line(`# Written by "bailiwick init". What is marked "confirm" was guessed from names: read it before agents are let in.`)
	w.line(`#   bailiwick check                            what agents would see`)
	w.line(`#   bailiwick token create --name my-agent     a token for an agent`)
	w.line(`#   bailiwick serve                            let it in`)
	w.line("listen: %s   # where agents connect. Only this machine can reach it", config.DefaultListen)
	w.line("store: %s   # Bailiwick's own memory: tokens, changes and the audit", config.DefaultStore)
	w.line("sources:")
	w.line("  %s:", w.Name)
	w.line("    openapi:")
	w.line("      document: %s   # %s, %d operations", quoteYAML(w.Document), w.title, len(w.d.Operations))
	base, said := w.base()
	if !said {
		w.line("      # confirm: the document doesn't say where the API is. Write its address here.")
	}
	w.line("      base_url: %s", quoteYAML(base))
	w.credential()
	w.line("")
	w.line("gates: {writes: review}   # what isn't read waits for a person. off lets agents only read")
	w.line("")
	w.line("apis:")
	w.line("  %s:", w.Name)
	w.line("    # Each operation has its class here. One that a later document has is absent, by the last rule, until somebody")
	w.line("    # classes it. Take a line out to hide an operation, move it to class it otherwise.")
	if w.rpc {
		w.line("    # confirm: all is POST, so the classes are by the names: Get, List and Search read, Delete and Remove destroy.")
	}
	w.line("    access:")
	for _, g := range w.groups() {
		w.group(g)
	}
	w.line("      - {operations: [\"*\"], class: excluded}")
	w.fields()
	if name, of := w.owner(); of > 1 {
		w.line("    # confirm: %d operations say by %s whose things they are about. This keeps each agent to those of the tenant of", of, name)
		w.line("    # its token. Operations without it are not kept to anything.")
		w.line("    #parameters:")
		w.line("    #  - {name: %s, is: principal.tenant}", yamlText(name))
	}
}

// group writes the rule of a group with its operations, grouped as in the document.
func (w *apiWriter) group(g group) {
	switch {
	case g.kind == spec.SuspectShows:
		w.line("      # confirm: %s. They are absent.", g.kind.Reason())
	case g.reads:
		w.line("      # confirm: by their names they may only read. With class: read, agents call them without a person.")
	case g.kind != "":
		w.line("      # confirm: never for agents: by their names, %s.", g.kind.Reason())
	}
	w.line("      - class: %s", g.class)
	if g.class == spec.ClassForbidden {
		w.line("        reason: %s", quoteYAML(g.kind.Reason()))
		w.line("        instead: %s", quoteYAML("A person does it in "+strings.TrimSuffix(w.title, " API")))
	}
	w.line("        operations:")
	var order []string
	by := map[string][]*spec.Operation{}
	for _, op := range g.ops {
		of := op.Groups()
		if len(of) == 0 {
			of = []string{""}
		}
		if by[of[0]] == nil {
			order = append(order, of[0])
		}
		by[of[0]] = append(by[of[0]], op)
	}
	for _, name := range order {
		if len(order) > 1 {
			w.line("          # %s", plain(name, 80))
		}
		for _, op := range by[name] {
			w.operation(g, op)
		}
	}
}

// operation writes a line for one operation. It uses the id if the document declares one, otherwise the method and
// path.
func (w *apiWriter) operation(g group, op *spec.Operation) {
	name, about := op.Name(), op.Summary
	if op.Declared {
		name = op.ID
		if about == "" || strings.HasSuffix(op.Path, "/"+about) { // for remote procedures, the path and the summary only repeat the id
			about, _, _ = strings.Cut(op.Description, "\n")
		}
	}
	notes := []string{plain(about, 90)}
	switch {
	case op.Declared && !w.rpc && about != "":
		notes[0] = op.Name() + ": " + notes[0]
	case op.Declared && !w.rpc:
		notes[0] = op.Name()
	}
	if op.Deprecated {
		notes = append(notes, "(deprecated)")
	}
	if g.class == spec.ClassRead && spec.SuggestsWrite(op) {
		notes = append(notes, "confirm: it may change something")
	}
	notes = slices.DeleteFunc(notes, func(s string) bool { return s == "" })
	if len(notes) == 0 {
		w.line("          - %s", operationText(name))
		return
	}
	w.line("          - %s   # %s", operationText(name), strings.Join(notes, "  # "))
}

var plainOperation = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_ ./{}-]*$`)

// operationText returns the name of an operation as YAML. It quotes the name if YAML would otherwise read it as
// something else.
func operationText(s string) string {
	if plainOperation.MatchString(s) && strings.TrimSpace(s) == s && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	return quoteYAML(s)
}

// fields writes a proposal to hide fields that look like credentials.
func (w *apiWriter) fields() {
	fields := w.secrets()
	if fields == nil {
		return
	}
	w.line("    hidden:")
	w.line("      # confirm: they look like credentials by their names. They are in no answer, and no argument.")
	w.line("      - fields:")
	for _, f := range fields {
		w.line("          - %s", yamlText(f))
	}
}

// plain returns s on one line with at most most characters, for use in a comment.
func plain(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }), " ")
	if runes := []rune(s); len(runes) > most {
		s = strings.TrimRight(string(runes[:most-1]), " ") + "…"
	}
	return s
}

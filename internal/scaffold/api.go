package scaffold

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// An API describes the HTTP API to configure.
type API struct {
	Name     string // the name of the source
	Document string // the path or URL for the configuration. A path is relative to the folder of the configuration
	BaseURL  string // "" means the address in the document
	Contents config.Document
}

// OfAPI returns the configuration of an HTTP API. It assigns a class to each operation of the document.
func OfAPI(a API) (Draft, error) {
	d := a.Contents.Document
	w := &apiWriter{API: a, d: d, title: strings.TrimSpace(cmp.Or(plain(d.Title, 60), a.Name)), rpc: remoteProcedures(d)}
	var err error
	if w.classes, err = spec.NewClassifier(d, spec.ClassOptions{RPCNames: w.rpc}); err != nil {
		return Draft{}, err
	}
	w.write()
	text := w.b.String()
	return Draft{Text: text, Operations: len(d.Operations), Confirm: strings.Count(text, confirm)}, a.sound(text)
}

// sound checks that the generated configuration can be parsed and compiled. It replaces the document's address, so
// that the location of the document doesn't matter.
func (a *API) sound(text string) error {
	text = strings.Replace(text, "document: "+quoteYAML(a.Document), "document: https://document.example/", 1)
	c, err := config.Parse("bailiwick.yaml", []byte(text), func(name string) (string, bool) {
		if strings.Contains(text, "${"+name+"}") {
			return "secret", true
		}
		return "", false
	})
	if err == nil {
		err = c.Fetch(func(config.Source) (config.Document, error) { return a.Contents, nil })
	}
	if err == nil {
		_, err = policy.New(c.Rules, nil)
	}
	if err != nil {
		return fmt.Errorf("the rules that were guessed for %s are not right, which is a fault of this program: %w", a.Name, err)
	}
	return nil
}

// remoteProcedures reports whether the document describes remote procedures. At least 90 % of the operations must use
// POST and have a capitalized name.
func remoteProcedures(d *spec.Document) bool {
	named := 0
	for _, op := range d.Operations {
		last := op.Path[strings.LastIndexByte(op.Path, '/')+1:]
		if op.Method == "POST" && last != "" && 'A' <= last[0] && last[0] <= 'Z' {
			named++
		}
	}
	return named > 0 && named*10 >= len(d.Operations)*9
}

// base returns the base URL, and whether the document or BaseURL contains it.
func (w *apiWriter) base() (string, bool) {
	if w.BaseURL != "" {
		return w.BaseURL, true
	}
	from, err := url.Parse(w.Document)
	if err != nil || from.Host == "" {
		from = &url.URL{}
	}
	for _, server := range append(slices.Clone(w.d.Servers), "/") {
		u, err := url.Parse(server)
		if err != nil {
			continue
		}
		u = from.ResolveReference(u)
		if (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && !strings.Contains(u.Host, "{") {
			return strings.TrimSuffix(u.String(), "/"), true
		}
	}
	return "https://" + strings.ReplaceAll(w.Name, "_", "-") + ".example", false
}

// A group contains the operations that one rule classifies.
type group struct {
	class spec.Class
	kind  spec.Suspicion // the suspicion about the operations, or ""
	reads bool           // their method writes, but their names suggest that they only read
	ops   []*spec.Operation
}

// groups assigns each operation to one group. Suspicious groups come first, and then the groups by class.
func (w *apiWriter) groups() []group {
	by := map[spec.Suspicion][]*spec.Operation{}
	for _, op := range w.d.Operations {
		kind := spec.SuspicionOf(w.d, op, w.classes.Of(op).Class)
		by[kind] = append(by[kind], op)
	}
	var out []group
	for _, kind := range spec.Suspicions() {
		class := spec.ClassForbidden
		if kind == spec.SuspectShows {
			class = spec.ClassExcluded
		}
		if by[kind] != nil {
			out = append(out, group{class: class, kind: kind, ops: by[kind]})
		}
	}
	for _, g := range []group{{class: spec.ClassRead}, {class: spec.ClassWrite, reads: true}, {class: spec.ClassWrite}, {class: spec.ClassDestructive}} {
		for _, op := range by[""] {
			if class := w.classes.Of(op).Class; class == g.class && g.reads == (class == spec.ClassWrite && spec.SuggestsRead(op)) {
				g.ops = append(g.ops, op)
			}
		}
		if g.ops != nil {
			out = append(out, g)
		}
	}
	return out
}

// secrets returns the sorted text fields of schemas whose names suggest credentials.
func (w *apiWriter) secrets() []string {
	all := spec.NewView(w.d, nil, spec.Filter{})
	found := map[string]bool{}
	for _, name := range w.d.Names() {
		for _, f := range all.Object(w.d.Schema(w.d.SchemaRef(name))).Fields {
			if secretnames.Credential(f.Name) && !tells(f.Name) && !strings.Contains(f.Name, ".") && slices.Contains(all.Schema(f.Schema).Types, "string") {
				found[f.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// tells reports whether a name describes a credential or names a harmless token.
func tells(name string) bool {
	said := secretnames.Words(name)
	about := []string{"time", "date", "at", "on", "duration", "type", "url", "name", "id", "enabled", "expired", "expiry", "hint", "policy", "restriction", "rotation", "required"}
	return slices.Contains(about, said[len(said)-1]) || slices.ContainsFunc(said, func(s string) bool {
		return slices.Contains([]string{"page", "next", "continuation", "sync"}, s) && slices.Contains(said, "token")
	})
}

// owner returns the tenant parameter that occurs in the paths of most operations, and the number of these operations.
func (w *apiWriter) owner() (name string, of int) {
	count := map[string]int{}
	for _, op := range w.d.Operations {
		for _, p := range op.Parameters {
			if ws := secretnames.Words(p.Name); p.In == "path" && (slices.Contains(tenantWords, ws[0])) {
				count[p.Name]++
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(count)) {
		if count[n] > of {
			name, of = n, count[n]
		}
	}
	return name, of
}

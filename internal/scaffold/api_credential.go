package scaffold

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// credential writes credentials for the security schemes that the operations require. Other schemes of the document
// follow as comments.
func (w *apiWriter) credential() {
	required := w.requiredSchemes()
	var active, others []spec.Scheme
	certificate := false
	for _, s := range w.d.Schemes {
		switch {
		case s.Kind == "mutualTLS":
			certificate = certificate || slices.Contains(required, s.Name)
		case w.scheme(s, "") == "":
		case slices.Contains(required, s.Name) || required == nil && active == nil:
			active = append(active, s)
		default:
			others = append(others, s)
		}
	}
	switch {
	case active == nil && !certificate:
		w.line("      # confirm: the document doesn't say how callers show who they are. If the API asks for it, one of these:")
		w.line("      #credential: {bearer: \"%s\"}", w.variable("TOKEN"))
		w.line("      #credential: {header: {name: X-API-Key, value: \"%s\"}}", w.variable("KEY"))
	case len(active) > 0:
		w.line("      # The document says that callers show who they are like this. The secret comes from the environment: let it be")
		w.line("      # one that may do no more than agents should.")
	}
	if len(active) == 1 {
		w.line("      credential: %s   # %s", w.scheme(active[0], ""), plain(active[0].Name, 40))
	} else if len(active) > 1 {
		w.line("      credentials:   # each operation is called with those that the document requires for it")
		for _, s := range active {
			w.line("        %s: %s", quoteYAML(s.Name), w.scheme(s, variableOf(s.Name)))
		}
	}
	for _, s := range others {
		if len(active) > 1 {
			w.line("        #%s: %s", quoteYAML(s.Name), w.scheme(s, variableOf(s.Name)))
			continue
		}
		w.line("      #credential: %s   # %s", w.scheme(s, ""), plain(s.Name, 40))
	}
	if certificate {
		w.line("      # confirm: the document requires a certificate of callers. Write the paths of its files here.")
		w.line("      tls: {certificate: client.pem, key: client.key}")
	}
	w.unmet(required)
	w.servers()
}

// requiredSchemes returns security schemes that together allow all operations to be called, if the gateway supports
// them. It chooses the alternative that serves most operations, then the one that serves most of the remaining
// operations, and so on. It returns nil if the document requires no scheme.
func (w *apiWriter) requiredSchemes() (out []string) {
	var left []*spec.Operation
	for _, op := range w.d.Operations {
		if class := w.classes.Of(op).Class; class != spec.ClassExcluded && class != spec.ClassForbidden {
			left = append(left, op)
		}
	}
	met := func(r spec.Requirement) bool {
		return !slices.ContainsFunc(r, func(name string) bool { return !slices.Contains(out, name) })
	}
	for {
		left = slices.DeleteFunc(left, func(op *spec.Operation) bool { return len(op.Security) == 0 || slices.ContainsFunc(op.Security, met) })
		count, of := map[string]int{}, map[string]spec.Requirement{}
		for _, op := range left {
			for _, r := range op.Security {
				if !slices.ContainsFunc(r, func(name string) bool { return !w.has(name) }) {
					key := strings.Join(r, "\n")
					of[key] = r
					count[key]++
				}
			}
		}
		best := ""
		for _, key := range slices.Sorted(maps.Keys(count)) {
			if best == "" || count[key] > count[best] || count[key] == count[best] && w.order(of[key]) < w.order(of[best]) {
				best = key
			}
		}
		if best == "" {
			return out
		}
		for _, name := range of[best] {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
}

// has reports whether the gateway supports credentials for a scheme.
func (w *apiWriter) has(name string) bool {
	s := w.d.Scheme(name)
	return s.Kind == "mutualTLS" || w.scheme(s, "") != ""
}

// order returns the position in the document of the last scheme of r.
func (w *apiWriter) order(r spec.Requirement) int {
	last := -1
	for _, name := range r {
		last = max(last, slices.IndexFunc(w.d.Schemes, func(s spec.Scheme) bool { return s.Name == name }))
	}
	return last
}

// unmet writes a note about operations that the gateway has no supported credential for.
func (w *apiWriter) unmet(required []string) {
	count := 0
	var example *spec.Operation
	for _, op := range w.d.Operations {
		if class := w.classes.Of(op).Class; class == spec.ClassExcluded || class == spec.ClassForbidden || len(op.Security) == 0 {
			continue
		}
		if !slices.ContainsFunc(op.Security, func(r spec.Requirement) bool {
			return !slices.ContainsFunc(r, func(name string) bool { return !w.has(name) })
		}) {
			if count++; example == nil {
				example = op
			}
		}
	}
	if count > 0 && required != nil {
		w.line("      # confirm: the gateway has no credential of this kind: %s. Operations that require it: %d", plain(w.d.Scheme(slices.Concat(example.Security...)[0]).String(), 60), count)
	}
}

// servers proposes additional addresses at which the document serves operations.
func (w *apiWriter) servers() {
	base, _ := w.base()
	count := map[string]int{}
	for _, op := range w.d.Operations {
		if len(op.Servers) == 0 || slices.ContainsFunc(op.Servers, func(s string) bool {
			return strings.TrimSuffix(s, "/") == base || slices.Contains(w.d.Servers, s)
		}) {
			continue
		}
		if _, err := edge.ParseURL(op.Servers[0]); err == nil {
			count[strings.TrimSuffix(op.Servers[0], "/")]++
		}
	}
	if len(count) == 0 {
		return
	}
	w.line("      # The document serves some operations at other addresses, where calls are refused until they are listed:")
	w.line("      #servers:")
	for _, at := range slices.Sorted(maps.Keys(count)) {
		w.line("      #  %s: {credential: {bearer: \"%s\"}}   # operations: %d", quoteYAML(at), w.variable("TOKEN"), count[at])
	}
}

// scheme returns the credential configuration for a security scheme, or "" if the scheme is not supported. If several
// schemes are written, called is the scheme's name in capitals, and the variables contain it. Otherwise called is "".
func (w *apiWriter) scheme(s spec.Scheme, called string) string {
	variable := func(what string) string {
		if called == "" {
			return w.variable(what)
		}
		if strings.HasSuffix(called, what) {
			return w.variable(called)
		}
		return w.variable(called + "_" + what)
	}
	switch {
	case s.Kind == "http" && s.HTTP == "basic":
		return fmt.Sprintf(`{basic: {user: "%s", password: "%s"}}`, variable("USER"), variable("PASSWORD"))
	case s.Kind == "http" && s.HTTP == "bearer" || s.Kind == "openIdConnect":
		return fmt.Sprintf(`{bearer: "%s"}`, variable("TOKEN"))
	case s.Kind == "apiKey" && s.In == "header" && strings.EqualFold(s.Field, "Authorization"):
		return fmt.Sprintf(`{header: {name: Authorization, value: "%s"}}`, variable("AUTHORIZATION"))
	case s.Kind == "apiKey" && (s.In == "header" && !spec.RefusedHeader(s.Field) || s.In == "query") && s.Field != "":
		return fmt.Sprintf(`{%s: {name: %s, value: "%s"}}`, s.In, quoteYAML(s.Field), variable("KEY"))
	case s.Kind == "apiKey" && s.In == "cookie" && s.Field != "":
		return fmt.Sprintf(`{cookie: {name: %s, value: "%s"}}`, quoteYAML(s.Field), variable("COOKIE"))
	case s.Kind == "oauth2":
		if _, err := edge.ParseURL(s.TokenURL); err == nil {
			return fmt.Sprintf(`{oauth: {token_url: %s, client_id: "%s", client_secret: "%s"}}`, quoteYAML(s.TokenURL), variable("CLIENT_ID"), variable("CLIENT_SECRET"))
		}
		return fmt.Sprintf(`{bearer: "%s"}`, variable("TOKEN"))
	}
	return ""
}

// variableOf converts the name of a scheme to a part of an environment variable, such as API_KEY_AUTH for apiKeyAuth.
func variableOf(scheme string) string {
	var out []rune
	lower := false
	for _, r := range scheme {
		switch upper := 'A' <= r && r <= 'Z'; {
		case upper && lower:
			out = append(out, '_', r)
		case upper || '0' <= r && r <= '9':
			out = append(out, r)
		case 'a' <= r && r <= 'z':
			out = append(out, r-'a'+'A')
		case len(out) > 0 && out[len(out)-1] != '_':
			out = append(out, '_')
		}
		lower = 'a' <= r && r <= 'z'
	}
	return strings.Trim(string(out), "_")
}

// variable returns the environment variable for a part of the credential, as ${NAME}. Its name starts with the name
// of the source.
func (w *apiWriter) variable(what string) string {
	return "${" + strings.ToUpper(strings.ReplaceAll(w.Name, "-", "_")) + "_" + what + "}"
}

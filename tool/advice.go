package tool

import (
	"errors"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// toolNames returns the names of the tools to which texts refer. A test compares them with the existing tools.
func toolNames() []string {
	return []string{"list_tools", "get_all_schemas", "get_schema", "find_values", "query_class", "count_objects", "get_object", "get_objects", "get_sample_objects", "aggregate",
		"group_by", "group_by_date", "distinct", "export_data", "query_sql", "explain_query", "text_search",
		"create_object", "update_object", "delete_object", "propose_changes", "create_class", "delete_class", "call_method", "list_my_changes", "get_change", "wait_for_change",
		"reply_to_change", "cancel_change", "search_api", "call_api_read", "call_api_write", "org_describe"}
}

// ListedFor reports whether tools/list shows t to p. A tool in p's own list of tools is always shown.
func (t *Tool) ListedFor(p identity.Principal) bool {
	for l := &p.Tools; l != nil; l = l.Within {
		if slices.Contains(l.Only, t.Name) {
			return true
		}
	}
	return !t.Unlisted
}

// Mentions returns the names of tools in a text of the gateway. A name of one word only counts after "the tool".
func Mentions(text string) []string {
	var out []string
	names := toolNames()
	for rest, before := text, ""; rest != ""; {
		n := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) })
		if n < 0 {
			n = len(rest)
		}
		if word := rest[:n]; n > 0 && slices.Contains(names, word) && !strings.HasSuffix(before, `"`) &&
			(strings.Contains(word, "_") || strings.HasSuffix(before, "the tool ")) {
			out = append(out, word)
		}
		n = max(n, 1)
		before, rest = text[:len(text)-len(rest)+n], rest[n:]
	}
	return out
}

// isWord reports whether r can be part of a tool's name.
func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r >= '0' && r <= '9'
}

// Advice returns text without the sentences that name a tool for which can is false.
func Advice(text string, can func(name string) bool) string {
	if !strings.Contains(text, "_") && !strings.Contains(text, "the tool ") {
		return text
	}
	bad := func(part string) bool {
		return slices.ContainsFunc(Mentions(part), func(name string) bool { return !can(name) })
	}
	if !bad(text) {
		return text
	}
	var sentences []string
	for text != "" {
		var sentence string
		if sentence, text = cutSentence(text); !bad(sentence) {
			sentences = append(sentences, sentence)
		}
	}
	return problem.Sentences(sentences...)
}

// cutSentence returns the first sentence of text, and the others. A sentence ends at a full stop or a question mark, with a
// space behind it.
func cutSentence(text string) (first, rest string) {
	for i := range len(text) - 1 {
		if (text[i] == '.' || text[i] == '?') && text[i+1] == ' ' {
			return text[:i+1], text[i+2:]
		}
	}
	return text, ""
}

// advise returns err without advice to call tools that p may not call. It keeps the description of the fault.
func (s *Set) advise(p identity.Principal, err error) error {
	e, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return err
	}
	can := func(name string) bool { return s.May(p, name) }
	out := *e
	out.Suggestion = Advice(e.Suggestion, can)
	if fault, next := cutSentence(e.Detail); next != "" {
		if kept := Advice(next, can); kept != next {
			out.Detail = strings.TrimSuffix(problem.Sentences(fault, kept), ".")
		}
	}
	if out.Suggestion == e.Suggestion && out.Detail == e.Detail {
		return err
	}
	return &out
}

// advice returns the parts of text whose tools the caller may call.
func advice(c *bailiwick.Call, text string) string { return Advice(text, c.MayCall) }

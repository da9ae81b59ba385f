package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Prompts, resources and completions are requested like tools, under names that no tool has: "prompt NAME",
// "resources CURSOR", "resource URI", "watch URI" and "complete NAME ARGUMENT WRITTEN". Their arguments are texts.

// beyond returns a request for something other than a tool.
func (a *asker) beyond() tool.Request {
	a.asked = a.class()
	class, child := a.asked, a.class()
	uri := pick(a.Rand, "bailiwick://app/"+class+"/", "bailiwick://app/"+class+"/", "bailiwick://other/issues/", "bailiwick://app/app."+class+"/") +
		pick(a.Rand, "count", "samples", "schema", "schema", "secrets")
	date := func() string { return pick(a.Rand, "2026-01-01", "2026-02-01T00:00:00Z", "2020-01-01", "never", "") }
	all := map[string][]string{
		"conventions": nil, "explore_database": nil,
		"relations":         {"classes", pick(a.Rand, "", class, class+","+child, "vaults", "vaults,issues")},
		"class_overview":    {"class_name", class},
		"count_by":          {"class_name", class, "group_by", a.field()},
		"recent_activity":   {"class_name", class, "limit", pick(a.Rand, "", "3", "101")},
		"created_in_range":  {"class_name", class, "since", date(), "until", date()},
		"find_relationship": {"parent_class", child, "parent_id", a.id(), "child_class", class, "pointer_field", a.pointer()},
		"absent":            nil,
	}
	name := pick(a.Rand, "relations", "relations", "class_overview", "class_overview", "count_by", "count_by", "recent_activity", "created_in_range",
		"find_relationship", "find_relationship", "explore_database", "conventions", "absent")
	given := all[name]
	switch a.IntN(8) {
	case 0, 1, 2:
		return said("prompt "+name, given...)
	case 3, 4:
		return said("resource " + uri)
	case 5:
		return said(pick(a.Rand, "watch "+uri, "resources ", "resources x"))
	}
	argument := pick(a.Rand, "class_name", "group_by", "pointer_field", "child_class", "classes", "source", "class", "since")
	if a.IntN(4) == 0 {
		name = "bailiwick://{source}/{class}/" + pick(a.Rand, "count", "schema", "secrets")
		given = []string{pick(a.Rand, "class", "source"), pick(a.Rand, class, "app", "other", "")}
		argument = pick(a.Rand, "class", "source")
	}
	return said("complete "+name+" "+argument+" "+pick(a.Rand, "", "", "i", "v", "issues,", "score", "vault", "APP"), given...)
}

// said returns a request with texts by name. It omits empty texts.
func said(name string, given ...string) tool.Request {
	var members []value.Member
	for i := 0; i+1 < len(given); i += 2 {
		if given[i+1] != "" {
			members = append(members, value.Member{Name: given[i], Value: value.OfString(given[i+1])})
		}
	}
	return tool.Request{Name: name, Arguments: value.OfObject(members)}
}

// answer returns everything that the principal receives for the request c, which is for a tool, a prompt, a resource
// or a completion.
func (s *side) answer(p identity.Principal, c tool.Request) (string, value.Value) {
	kind, rest, ok := strings.Cut(c.Name, " ")
	if !ok {
		return answer(s.set, p, c)
	}
	given := map[string]string{}
	for _, m := range c.Arguments.Members() {
		given[m.Name] = m.Value.Text()
	}
	ctx := context.Background()
	var got any
	var err error
	switch kind {
	case "prompt":
		got, err = s.prompts.Get(ctx, p, prompt.Request{Name: rest, Arguments: given})
	case "resources":
		got, err = s.prompts.Resources(ctx, p, rest, "")
	case "resource":
		got, err = s.prompts.Read(ctx, p, prompt.Request{Name: rest})
	case "watch":
		err = s.prompts.Watch(ctx, p, []string{rest}, "")
	case "complete":
		parts := strings.SplitN(rest, " ", 3)
		r := prompt.Completion{Prompt: parts[0], Argument: parts[1], Written: parts[2], Given: given}
		if strings.HasPrefix(parts[0], prompt.Scheme) {
			r.Prompt, r.Template = "", parts[0]
		}
		got, err = s.prompts.Complete(ctx, p, r)
	default:
		return "FAILED: what is " + kind + "?", value.Value{}
	}
	if err != nil {
		return refusedAs(err), value.Value{}
	}
	b, err := json.Marshal(got)
	if err != nil {
		return fmt.Sprintf("FAILED %v", err), value.Value{}
	}
	return string(b), value.Value{}
}

// refusedAs returns the parts of an error that a transport sends.
func refusedAs(err error) string {
	e := *problem.Of(err)
	if e.Code == problem.Internal || e.Code == problem.Upstream {
		return fmt.Sprintf("FAILED %v", e.Err)
	}
	e.Kind, e.Err = "", nil
	b, _ := json.Marshal(e)
	return string(b)
}

// TestBeyondCanFail checks that a leak is detected in each kind of request other than tools. A side that shows a
// hidden class must differ from the twin, which doesn't have the class.
func TestBeyondCanFail(t *testing.T) {
	spoiled := rules(false)
	spoiled.Classes["vaults"] = policy.ClassRule{}
	sides := []side{sqliteSide(t, "one", false), sqliteSide(t, "twin", true)}
	for i, r := range []policy.Rules{spoiled, rules(true)} {
		if err := sides[i].puts(t, r); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	m := &maker{r, profiles()[0]}
	a := &asker{Rand: r}
	for range 20000 { // only a few requests name the schema of the hidden class
		c := a.beyond()
		if kind, _, _ := strings.Cut(c.Name, " "); compare(sides, m.who, c, &tally{}) != "" {
			found[kind] = true
		}
	}
	for _, kind := range []string{"prompt", "resources", "resource", "watch", "complete"} {
		if !found[kind] {
			t.Errorf("no difference was found through %s", kind)
		}
	}
}

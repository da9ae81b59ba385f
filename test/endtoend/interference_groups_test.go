package endtoend

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// groupActions returns the actions for groups.
func groupActions(t *testing.T) []action.Declaration {
	return []action.Declaration{
		{Name: "renumber", On: "issues", Do: action.Update, Permitted: []string{"n"}, Input: read(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
			Require: []action.Requirement{{That: "record.n == null || record.n < 100", Message: "the number is settled"}}},
		{Name: "remark", On: "comments", Do: action.Create, Permitted: []string{"issue_id", "body"},
			Input: read(t, `{"type":"object","properties":{"issue_id":{"type":"integer"},"body":{"type":"string"}},"required":["issue_id","body"]}`)},
		{Name: "drop", On: "issues", Do: action.Delete},
	}
}

// TestNonInterferenceGroups proposes the same groups of actions and writes in two offices that differ in hidden data.
// The agent must learn the same about each group, at the proposal and later.
func TestNonInterferenceGroups(t *testing.T) {
	t.Parallel()
	inOffices(t, func(t *testing.T, open func(*testing.T, func(*bailiwick.Options, *change.Options)) *office) {
		with := func(o *bailiwick.Options, _ *change.Options) { o.Actions = groupActions(t) }
		offices := [2]*office{open(t, with), open(t, with)}
		most := 200
		if offices[0].driver != "" {
			most = 60
		}
		interfereByGroups(t, offices, most)
	})
}

// interfereByGroups proposes most random groups in two offices.
func interfereByGroups(t *testing.T, offices [2]*office, most int) {
	var sets [2]*tool.Set
	var bots [2]identity.Principal
	for i, o := range offices {
		var err error
		if sets[i], err = tool.NewSet(o.gateway, tools.NewChangeTools(tools.ChangeOptions{Gateway: o.gateway}).Tools()...); err != nil {
			t.Fatal(err)
		}
		bots[i] = o.bot()
	}
	r := rand.New(rand.NewPCG(firstSeed(t), 7))
	filed, refused := 0, map[string]int{}
	for range most {
		asked := `{"writes":[` + drawItem(r) + `,` + drawItem(r) + `]}`
		if r.IntN(3) == 0 {
			asked = drawFamily(r)
		}
		var learned [2]string
		for i, o := range offices {
			if r.IntN(2) == 0 {
				hideFrom(o, r)
			}
			learned[i] = o.learns(sets[i], bots[i], asked)
		}
		if learned[0] != learned[1] {
			t.Fatalf("%s\nin one world:\n%s\nin the other:\n%s", asked, learned[0], learned[1])
		}
		if kind, is := strings.CutPrefix(learned[0], "error "); is {
			refused[strings.Fields(kind)[0]]++
		} else {
			filed++
		}
	}
	t.Log(filed, refused)
	if filed < most/20 || len(refused) < 2 {
		t.Error("the groups say too little:", filed, refused)
	}
}

// drawItem draws an item for propose_changes. Half of the items are actions, and the others write a record.
func drawItem(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	id := pick("1", "1", "1", "2", "2", "2", "4", "9", "x")
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf(`{"op":"action","class_name":%q,"method_name":"renumber","object_id":%q,"arguments":{"n":%s}}`, pick("issues", "issues", "issues", "vault"), id, pick("3", "4", "5", `"x"`))
	case 1:
		return fmt.Sprintf(`{"op":"action","class_name":"comments","method_name":%q,"arguments":{"issue_id":%s,"body":"y"}}`, pick("remark", "remark", "nope"), pick("1", "1", "2", "2", "4", "9"))
	case 2:
		return fmt.Sprintf(`{"op":"action","class_name":"issues","method_name":"drop","object_id":%q}`, id)
	case 3:
		return fmt.Sprintf(`{"op":"update","class_name":"issues","object_id":%q,"data":{"status":"Done"}}`, id)
	case 4:
		return fmt.Sprintf(`{"op":"create","class_name":"comments","data":{"body":"y","issue_id":%s}}`, pick("1", "1", "2", "2", "4", "9"))
	}
	return fmt.Sprintf(`{"op":"update","class_name":"issues","object_id":%q,"data":{%s}}`, id, pick(`"code":"c"`, `"n":5`, `"secret_note":"x"`))
}

// learns returns everything that an agent learns about a proposal: the answer, and the result of get_change. The
// agent then withdraws the change.
func (o *office) learns(set *tool.Set, bot identity.Principal, asked string) string {
	o.Helper()
	call := func(name, in string) (tool.Result, error) {
		return set.Call(o.Context(), bot, tool.Request{Name: name, Arguments: read(o.T, in), Correlation: "c1"})
	}
	res, err := call("propose_changes", asked)
	if err != nil {
		p := problem.Of(err)
		text, err := json.Marshal(p)
		if err != nil {
			o.Fatal(err)
		}
		return fmt.Sprintf("error %s %s", p.Code, text)
	}
	id, _ := read(o.T, string(res.Structured)).Get("change_id")
	out := string(res.Structured) + res.Text
	for _, name := range []string{"get_change", "cancel_change"} {
		if res, err = call(name, `{"change_id":"`+id.Text()+`"}`); err != nil {
			o.Fatal(name, err)
		}
		out += string(res.Structured) + res.Text
	}
	return fleeting.ReplaceAllString(out, "…")
}

// read parses a JSON text.
func read(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

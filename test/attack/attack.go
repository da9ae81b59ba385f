// Package attack is a suite of attacks on an MCP server in front of a database, for any server. It talks MCP over HTTP,
// or over the standard input and output of a command, and it knows nothing about how the server works.
//
// The application under attack is the SQLite database of World. It holds canaries. These are values and names that the
// agent of the suite must never see. They belong to another tenant, to a hidden field or to a hidden class. A
// case is held if no canary is in anything that the server sends, if the database is unchanged, and if the server still
// answers. The description that a server gives of itself doesn't count.
package attack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Case is one attack.
type Case struct {
	Section string
	Name    string // the aim of the attack

	SQL  string // a statement, for the tool of the server that takes SQL, or a space
	Tool string // or a tool of Bailiwick, with its arguments in Args. Other servers don't have it
	Args string
	Raw  string // or a message that is sent as it stands. Over HTTP with Header and Method
	HTTP *Request
}

// says returns what a case sends: an answer may repeat hidden names that are in it.
func (c *Case) says() string {
	said := c.SQL + c.Args + c.Raw
	if c.HTTP != nil {
		said += c.HTTP.Path + c.HTTP.Body
	}
	return strings.ToLower(said)
}

// A Request is an HTTP request. Its status must be one of Want.
type Request struct {
	Method, Path, Body string
	Header             [][2]string // Authorization is set unless it is here. "" leaves it out
	Want               []int
	Large              int // bytes of white space before Body
}

// An Outcome is the result of a case.
type Outcome string

// The outcomes.
const (
	Held Outcome = "held"
	Fell Outcome = "fell"
	None Outcome = "does not apply" // the server has no tools of this kind, isn't reached over HTTP, or the effect of a write can't be seen
)

// A Result is a case with its outcome.
type Result struct {
	Case
	Outcome Outcome
	Why     string // of a case that fell: the fact
}

// A Target is a server under attack.
type Target struct {
	Server
	SQLTool string // the tool that takes SQL, or ""
	SQLName string // its argument
	Web     string // the address of the server without a path, for cases over HTTP, or ""
	Token   string
	State   func() (string, error) // tells what the database holds, or nil if that can't be seen: then attacks that write don't apply
}

// A Server takes messages of MCP.
type Server interface {
	// Send sends one JSON-RPC message, and returns all that came back. A server that refuses to answer returns "".
	Send(ctx context.Context, message string) (string, error)
}

// patience is how long a server may take for one case. It is a bound on hanging and no measure.
const patience = 60 * time.Second

// Run makes the attacks on t one after another.
func Run(ctx context.Context, t Target, cases []Case) ([]Result, error) {
	tools, err := t.tools(ctx)
	if err != nil {
		return nil, err
	}
	if t.SQLTool != "" { // a server that refuses everything holds every case, and is of no use
		said, err := t.Send(ctx, t.ask("SELECT id, title FROM tickets WHERE id = 1"))
		if err != nil || !strings.Contains(said, "Printer on fire") {
			return nil, fmt.Errorf("the server doesn't show what the agent may see: %v %s", err, cut(said))
		}
	}
	before, err := t.state()
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(cases))
	for i, c := range cases {
		out[i] = t.attack(ctx, c, tools)
		if out[i].Outcome == None {
			continue
		}
		after, err := t.state()
		if err != nil {
			return nil, err
		}
		if after != before {
			out[i].Outcome, out[i].Why, before = Fell, "the database was written to", after
		}
	}
	return out, nil
}

// ask returns the message that asks for a statement.
func (t *Target) ask(statement string) string {
	return call(t.SQLTool, fmt.Sprintf(`{%q:%s}`, t.SQLName, quoteJSON(statement)))
}

func (t *Target) state() (string, error) {
	if t.State == nil {
		return "", nil
	}
	return t.State()
}

// writes is the section of attacks that are judged only by the database. Any answer holds them.
const writes = "writes in SQL"

// tools returns the names in the server's list of tools.
func (t *Target) tools(ctx context.Context) (string, error) {
	said, err := t.Send(ctx, `{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{}}`)
	if err != nil || !strings.Contains(said, `"tools"`) {
		return "", fmt.Errorf("the server lists no tools: %v %s", err, cut(said))
	}
	return said, nil
}

// attack makes one attack and judges it.
func (t *Target) attack(ctx context.Context, c Case, tools string) Result {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said, why := "", ""
	var err error
	switch {
	case c.Section == writes && t.State == nil, c.HTTP != nil && t.Web == "", c.SQL != "" && t.SQLTool == "", c.Tool != "" && !strings.Contains(tools, `"name":"query_class"`):
		return Result{c, None, ""}
	case c.HTTP != nil:
		said, why, err = t.request(ctx, c.HTTP)
	case c.SQL != "":
		said, err = t.Send(ctx, t.ask(c.SQL))
	case c.Tool != "":
		said, err = t.Send(ctx, call(c.Tool, c.Args))
	default:
		said, err = t.Send(ctx, c.Raw)
	}
	if err != nil && why == "" && ctx.Err() != nil {
		why = "no answer in a minute"
	}
	if found := c.canary(said); found != "" {
		why = found + " in the answer"
	}
	if why == "" {
		if alive, err := t.Send(ctx, call("", "")); err != nil && !strings.Contains(alive, "jsonrpc") {
			why = fmt.Sprintf("it doesn't answer afterwards: %v", err)
		}
	}
	if why != "" {
		return Result{c, Fell, why}
	}
	return Result{c, Held, ""}
}

// canary returns the first canary in an answer, or "". It also finds canaries that are written in another way.
func (c *Case) canary(said string) string {
	for _, form := range forms(said) {
		for _, v := range Values() {
			if strings.Contains(form, v) {
				return "the value " + v
			}
		}
		if i := slices.IndexFunc(Names(), func(n string) bool { return strings.Contains(form, n) && !strings.Contains(c.says(), n) }); i >= 0 {
			return "the name " + Names()[i]
		}
		for _, trace := range []string{"goroutine 1", "runtime error", "panic:", "Traceback (most recent", "node_modules/", "    at Object.", "SQLITE_ERROR", "sqlite3_"} {
			if strings.Contains(form, trace) {
				return "the inside of the program (" + trace + ")"
			}
		}
	}
	return ""
}

// Table returns how many cases of each section held, fell and don't apply, one line each and the sum last.
func Table(all []Result) string {
	var sections []string
	counts := map[string]map[Outcome]int{}
	for _, r := range all {
		for _, s := range []string{r.Section, "all"} {
			if counts[s] == nil {
				counts[s] = map[Outcome]int{}
			}
			counts[s][r.Outcome]++
		}
		if !slices.Contains(sections, r.Section) {
			sections = append(sections, r.Section)
		}
	}
	out := fmt.Sprintf("%-34s %6s %6s %6s\n", "section", "held", "fell", "n/a")
	for _, s := range append(sections, "all") {
		out += fmt.Sprintf("%-34s %6d %6d %6d\n", s, counts[s][Held], counts[s][Fell], counts[s][None])
	}
	return out
}

func cut(s string) string { return s[:min(len(s), 300)] }

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/agentcmd"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// width is the maximum width of the demo's output, in columns.
const width = 98

// A step is one question of the scripted conversation and the call that answers it.
type step struct {
	says  string
	tool  string
	args  string
	lines int // number of lines shown of the answer
	then  string
}

// conversation contains the questions of a new user's agent. Every call uses MCP.
var conversation = []step{
	{says: "What can I do here?", tool: "list_tools", args: `{}`, lines: 12},
	{says: "What data is there?", tool: "get_all_schemas", args: `{}`, lines: 8,
		then: "Eight tables, seven classes: a rule hides api_keys, so for an agent it does not exist."},
	{says: "What is an issue made of?", tool: "get_schema", args: `{"class_name":"issues"}`, lines: 9},
	{says: "Which critical bugs is somebody working on, newest first?", tool: "query_class",
		args:  `{"class_name":"issues","where":{"type":"Bug","priority":"Critical","status":"InProgress"},"keys":["number","title","assignee_id.name"],"order":"-created_at","limit":4}`,
		lines: 7},
	{says: "Who has the most open work, and how much?", tool: "aggregate",
		args: `{"class_name":"issues","pipeline":[{"$match":{"status":{"$nin":["Done","Cancelled"]},"assignee_id":{"$ne":null}}},` +
			`{"$group":{"_id":"$assignee_id","issues":{"$sum":1},"estimate":{"$sum":"$estimate"}}},{"$sort":{"estimate":-1}},{"$limit":3},` +
			`{"$lookup":{"from":"users","localField":"_id","foreignField":"id","as":"who"}},{"$unwind":"$who"},` +
			`{"$project":{"_id":0,"name":"$who.name","issues":1,"estimate":1}}]}`, lines: 5},
	{says: "How many critical bugs are open?", tool: "query_sql",
		args: `{"sql":"SELECT count(*) AS open FROM issues WHERE type = 'Bug' AND priority = 'Critical' AND status NOT IN ('Done', 'Cancelled')"}`, lines: 2},
	{says: "How much work is open in each project?", tool: "query_metrics",
		args: `{"metrics":["open_issues","open_work"],"by":["project_id.key"],"order":"-open_work"}`, lines: 8,
		then: "The owner defined both words, so no model guesses which issues are open."},
	{says: "What is PAY-377?", tool: "issue_by_key", args: `{"key":"PAY-377"}`, lines: 3},
	{says: "And what is the password hash of the administrator?", tool: "query_class",
		args:  `{"class_name":"users","where":{"role":"Admin"},"keys":["name","password_hash"]}`,
		lines: 8, then: "Refused with the error of a field that doesn't exist, so an agent can't tell the two apart."},
}

// show prints how to connect and then runs the conversation.
func (d *demonstration) show(ctx context.Context) error {
	if d.JSON {
		if err := d.PrintJSON(map[string]any{"url": d.url, "tokens": d.tokens, "console": d.signIn, "config": d.file}); err != nil || !d.once {
			return err
		}
	} else {
		d.Printf("%s\n\n", terminal.Style(terminal.Bold, "Bailiwick demo")+": an issue tracker that two organisations share, 5,000 issues, 20,000 comments")
		d.Printf("listening on %s\n\n", d.url)
		for _, tenant := range []string{demo.Acme, demo.Globex} {
			d.Printf("  token of %-7s %s\n", tenant, terminal.Style(terminal.Green, d.tokens[tenant]))
		}
		d.printClients()
		d.Printf("\n%s  %s\n", terminal.Style(terminal.Bold, "A first conversation"), terminal.Style(terminal.Faint, "real calls over MCP, with the token of acme"))
	}
	// The conversation uses MCP, like that of any agent.
	c, err := agentcmd.Dial(ctx, d.url, d.tokens[demo.Acme])
	if err != nil {
		return err
	}
	defer c.Close()
	for i, s := range conversation {
		if err := d.play(ctx, c, i+1, s); err != nil {
			return err
		}
	}
	if err := d.otherTenant(ctx); err != nil {
		return err
	}
	n := len(conversation) + 2
	if d.withAPI {
		d.heading("The same tracker over its own HTTP API", "found, read and called by what its OpenAPI document says")
		for _, s := range calls {
			if err := d.play(ctx, c, n, s); err != nil {
				return err
			}
			n++
		}
	}
	d.heading("And what an agent may want to change", "proposed, never executed")
	if err := errors.Join(d.propose(ctx, c, n), d.proposeCall(ctx, c, n+len(wishes)), d.showReview()); err != nil || d.JSON {
		return err
	}
	if d.once {
		d.Printf("\n")
		return nil
	}
	end := "Serving until Ctrl-C."
	if d.passing {
		end = "Serving until Ctrl-C. This folder is removed then. To keep it, start the demo with --dir FOLDER."
	}
	d.Printf("\nThe rules are in %s\nEvery call is in the audit: %s\n\n%s\n", terminal.Style(terminal.Blue, d.file),
		terminal.Style(terminal.Blue, command()+" audit tail --store "+d.dir+"/bailiwick.db"), end)
	return nil
}

// command returns how a shell in this folder starts this program: by its name if it is on the PATH, and otherwise by
// its path.
func command() string {
	const name = "bailiwick"
	program, err := os.Executable()
	if err != nil {
		return name
	}
	if found, err := exec.LookPath(name); err == nil {
		if real, err := filepath.EvalSymlinks(found); err == nil && real == program {
			return name
		}
	}
	if here, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(here, program); err == nil && filepath.IsLocal(short) {
			return "." + string(filepath.Separator) + short
		}
	}
	return program
}

// heading prints the title of a part of the conversation.
func (d *demonstration) heading(says, more string) {
	if !d.JSON {
		d.Printf("\n%s  %s\n", terminal.Style(terminal.Bold, says), terminal.Style(terminal.Faint, more))
	}
}

// printClients prints commands to paste that connect a client. A client can connect over HTTP with a token, or start
// this program and use stdio.
func (d *demonstration) printClients() {
	token := d.tokens[demo.Acme]
	d.Printf("\n%s  %s\n", terminal.Style(terminal.Bold, "Talk to it"), terminal.Style(terminal.Faint, "with a model (docs/assistant.md: a local one is free), or by hand with shell in place of chat"))
	d.Printf("\n    %s chat --url %s --token %s\n", command(), d.url, token)
	d.Printf("\n%s  %s\n", terminal.Style(terminal.Bold, "Connect a client"), terminal.Style(terminal.Faint, "as an agent of acme"))
	d.Printf("\n  Claude Code:\n    claude mcp add --transport http bailiwick %s \\\n      --header \"Authorization: Bearer %s\"\n", d.url, token)
	d.Printf("\n  Cursor, VS Code and others, over HTTP (mcpServers):\n    {\"mcpServers\": {\"bailiwick\": {\"type\": \"http\", \"url\": %s,\n"+
		"      \"headers\": {\"Authorization\": %s}}}}\n", quoteJSON(d.url), quoteJSON("Bearer "+token))
	program, err := os.Executable()
	if err != nil {
		program = "bailiwick"
	}
	d.Printf("\n  Claude Desktop and others, over stdio (mcpServers):\n    {\"mcpServers\": {\"bailiwick\": {\"command\": %s,\n"+
		"      \"args\": [\"serve\", \"--stdio\", \"--tenant\", \"acme\",\n        \"--config\", %s]}}}\n", quoteJSON(program), quoteJSON(d.file))
}

func quoteJSON(s string) string {
	b, _ := json.Marshal(s) // can't fail for a string
	return string(b)
}

// play makes one call and shows it.
func (d *demonstration) play(ctx context.Context, c *client.Client, n int, s step) error {
	start := time.Now()
	a, err := c.Call(ctx, s.tool, json.RawMessage(s.args))
	took := time.Since(start)
	refused, isRefusal := errors.AsType[*client.Refusal](err)
	if err != nil && (!isRefusal || refused.Raw == nil) {
		return err
	}
	if d.JSON {
		raw := a.Structured
		if isRefusal {
			raw = refused.Raw
		}
		return d.PrintJSON(map[string]any{"tool": s.tool, "arguments": json.RawMessage(s.args), "refused": isRefusal, "answer": raw})
	}
	d.Printf("\n%s  %s\n", terminal.Style(terminal.Bold, fmt.Sprintf("%d  %s", n, s.says)), terminal.Style(terminal.Faint, fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000)))
	for i, line := range wrap(s.tool+" "+s.args, width-5) {
		lead := "   → "
		if i > 0 {
			lead = "     "
		}
		d.Printf("%s\n", terminal.Style(terminal.Blue, lead+line))
	}
	if isRefusal {
		for _, line := range wrap(string(refused.Raw), width-5) {
			d.Printf("     %s\n", terminal.Style(terminal.Amber, line))
		}
	} else {
		d.printLines(a.Text, s.lines)
	}
	if s.then != "" {
		d.Printf("     %s\n", terminal.Style(terminal.Faint, s.then))
	}
	return nil
}

// printLines prints the first lines of an answer, each cut to the maximum width.
func (d *demonstration) printLines(text string, most int) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if i == most && i < len(lines)-1 {
			d.Printf("     %s\n", terminal.Style(terminal.Faint, fmt.Sprintf("… %d more lines", len(lines)-i)))
			return
		}
		d.Printf("     %s\n", cut(line, width-5))
	}
}

// otherTenant asks one question with the token of the other tenant.
func (d *demonstration) otherTenant(ctx context.Context) (err error) {
	c, err := agentcmd.Dial(ctx, d.url, d.tokens[demo.Globex])
	if err != nil {
		return err
	}
	defer app.CloseAfter(c, &err)
	s := conversation[slices.IndexFunc(conversation, func(s step) bool { return s.tool == "query_sql" })]
	s.says, s.then = "The same question with the token of globex", "Another organisation, another answer, from the same table."
	return d.play(ctx, c, len(conversation)+1, s)
}

// cut shortens a line to at most the given number of characters.
func cut(line string, most int) string {
	if r := []rune(line); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return line
}

// wrap breaks text into lines of at most the given number of characters, after a comma or a space if possible.
func wrap(text string, most int) []string {
	var lines []string
	for r := []rune(text); ; {
		if len(r) <= most {
			return append(lines, string(r))
		}
		at := most
		for i := most; i > most/2; i-- {
			if r[i-1] == ',' || r[i-1] == ' ' {
				at = i
				break
			}
		}
		lines, r = append(lines, string(r[:at])), r[at:]
	}
}

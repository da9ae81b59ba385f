package operate_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/operate"
)

var update = flag.Bool("update", false, "rewrite testdata/clients.txt")

func client(t *testing.T, id string) operate.ConfiguredClient {
	t.Helper()
	for _, c := range operate.ConfiguredClients() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no client %s", id)
	return operate.ConfiguredClient{}
}

// TestForms compares the file of each client with a URL, with a program, and in a project. scripts/clients/connect
// tests the same files with the npm clients.
func TestForms(t *testing.T) {
	over := operate.Server{Name: "bailiwick", URL: "http://127.0.0.1:8420/mcp", Token: "bw_secret"}
	program := operate.Server{Name: "bailiwick", Command: []string{"/usr/bin/bailiwick", "serve", "--stdio"}}
	home := operate.Machine{OS: "linux", Home: "/home/ann", Config: "/home/ann/.config", Getenv: func(string) string { return "" }}
	var got strings.Builder
	show := func(text []byte, replaced bool, err error) {
		if err != nil || replaced {
			t.Error(err, replaced)
		}
		got.Write(text)
	}
	for _, c := range operate.ConfiguredClients() {
		got.WriteString("## " + c.ID + " " + filepath.ToSlash(c.File(home)) + "\n")
		if c.OnlyPrograms {
			if _, _, err := c.Edit(nil, over); err == nil {
				t.Errorf("%s takes a URL", c.ID)
			}
		} else {
			show(c.Edit(nil, over))
		}
		show(c.Edit(nil, program))
		if c.Project != "" {
			got.WriteString("# " + c.Project + "\n")
			text, replaced, err := c.EditProject(nil, over)
			show(text, replaced, err)
			if strings.Contains(string(text), "bw_secret") {
				t.Errorf("%s: the project's file holds the token", c.ID)
			}
		}
	}
	const golden = "testdata/clients.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("run with -update when this is right (-want +got):\n%s", d)
	}
}

// TestEdit checks that an edit changes only the entry, whatever the file contains.
func TestEdit(t *testing.T) {
	for name, tt := range map[string]struct{ client, before, after string }{
		"comments, tabs and a trailing comma": {"vscode",
			"// mine\n{\n\t\"inputs\": [], // none\n\t\"servers\": {\n\t\t// the other\n\t\t\"a\": {\"url\": \"http://a\"}, // here\n\t},\n}\n",
			"// mine\n{\n\t\"inputs\": [], // none\n\t\"servers\": {\n\t\t\"bailiwick\": {\n\t\t\t\"type\": \"http\",\n\t\t\t\"url\": \"http://x/mcp\"\n\t\t},\n\t\t// the other\n\t\t\"a\": {\"url\": \"http://a\"}, // here\n\t},\n}\n"},
		"an entry is replaced": {"cursor",
			"{\"mcpServers\": {\"a\": {\"command\": \"<b>\"}, \"bailiwick\": {\"url\": \"http://old\"}}, \"n\": 12345678901234567890}\n",
			"{\"mcpServers\": {\"a\": {\"command\": \"<b>\"}, \"bailiwick\": {\n      \"url\": \"http://x/mcp\"\n    }}, \"n\": 12345678901234567890}\n"},
		"no servers yet": {"gemini",
			"{\n    \"theme\": \"x\"\n}",
			"{\n    \"mcpServers\": {\n        \"bailiwick\": {\n            \"httpUrl\": \"http://x/mcp\"\n        }\n    },\n    \"theme\": \"x\"\n}"},
		"an empty object": {"claude-code", "{}", "{\n  \"mcpServers\": {\n    \"bailiwick\": {\n      \"type\": \"http\",\n      \"url\": \"http://x/mcp\"\n    }\n  }\n}"},
		"tables": {"codex",
			"model = \"o\" # mine\n\n[mcp_servers.bailiwick]\nurl = \"http://old\"\n\n[mcp_servers.bailiwick.env]\nA = \"b\"\n\n[mcp_servers.other]\ncommand = \"x\"\n",
			"model = \"o\" # mine\n\n[mcp_servers.bailiwick]\nurl = \"http://x/mcp\"\n\n[mcp_servers.other]\ncommand = \"x\"\n"},
		"a table at the end": {"codex", "a = '''\n[mcp_servers.b]\n'''", "a = '''\n[mcp_servers.b]\n'''\n\n[mcp_servers.bailiwick]\nurl = \"http://x/mcp\"\n"},
	} {
		c := client(t, tt.client)
		got, _, err := c.Edit([]byte(tt.before), operate.Server{Name: "bailiwick", URL: "http://x/mcp"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(tt.after, string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		again, replaced, err := c.Edit(got, operate.Server{Name: "bailiwick", URL: "http://x/mcp"})
		if err != nil || !replaced || string(again) != string(got) {
			t.Errorf("%s, again: %v %v\n%s", name, replaced, err, again)
		}
	}
}

// TestRefused checks files that can't be parsed, or that can't be edited without other changes. The error must not
// contain the text of the file.
func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct{ client, text, want string }{
		"no JSON":                 {"cursor", `{"secret": `, "is not a JSON object"},
		"a list":                  {"cursor", `["secret"]`, "is not a JSON object"},
		"servers are a list":      {"cursor", `{"mcpServers": ["secret"]}`, `its "mcpServers" is not an object`},
		"servers twice":           {"cursor", `{"mcpServers": {"secret": {}}, "mcpServers": {"b": {}}}`, "without changing something else"},
		"no TOML":                 {"codex", `a = secret`, "is not TOML"},
		"an inline table":         {"codex", "[mcp_servers]\nbailiwick = {url = \"secret\"}\n", "without changing something else"},
		"a header in a text":      {"codex", "a = '''\n[mcp_servers.bailiwick]\nsecret'''\n", "without changing something else"},
		"inputs that are no list": {"vscode", `{"inputs": {"secret": 1}}`, `its "inputs" is not a list`},
	} {
		c := client(t, tt.client)
		edit := c.Edit
		if c.ID == "vscode" {
			edit = c.EditProject
		}
		out, _, err := edit([]byte(tt.text), operate.Server{Name: "bailiwick", URL: "http://x/mcp", Token: "bw_x"})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q\n%s", name, err, tt.want, out)
		}
	}
}

// TestVSCode checks the file for Visual Studio Code against the schema in its source. The schema is mcpServerSchema
// in src/vs/workbench/contrib/mcp/common/mcpConfiguration.ts, read on 2026-11-23. It allows no other keys.
func TestVSCode(t *testing.T) {
	over := operate.Server{Name: "bailiwick", URL: "http://127.0.0.1:8420/mcp", Token: "bw_secret"}
	program := operate.Server{Name: "bailiwick", Command: []string{"/usr/bin/bailiwick", "serve", "--stdio"}}
	c := client(t, "vscode")
	for name, edit := range map[string]func() ([]byte, bool, error){
		"url":     func() ([]byte, bool, error) { return c.Edit(nil, over) },
		"program": func() ([]byte, bool, error) { return c.Edit(nil, program) },
		"project": func() ([]byte, bool, error) { return c.EditProject(nil, over) },
	} {
		text, _, err := edit()
		if err != nil {
			t.Fatal(name, err)
		}
		var file struct {
			Servers map[string]map[string]any
			Inputs  []struct {
				ID, Type, Description string
				Password              bool
			}
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&file); err != nil || len(file.Servers) != 1 {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		s := file.Servers["bailiwick"]
		kind, _ := s["type"].(string)
		allowed := map[string][]string{"stdio": {"type", "command", "cwd", "args", "envFile", "env", "dev"}, "http": {"type", "url", "headers", "dev"}}[kind]
		for key := range s {
			if !slices.Contains(allowed, key) {
				t.Errorf("%s: a server of type %q has no %s", name, kind, key)
			}
		}
		for _, in := range file.Inputs {
			if in.Type != "promptString" || in.ID == "" || in.Description == "" || !in.Password || !bytes.Contains(text, []byte("${input:"+in.ID+"}")) {
				t.Errorf("%s: input %+v", name, in)
			}
		}
		if name == "project" && len(file.Inputs) != 1 {
			t.Errorf("%s: no input\n%s", name, text)
		}
	}
}

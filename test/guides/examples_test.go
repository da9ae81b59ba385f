package guides

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// testedElsewhere lists pages whose examples, all of them, are run by other tests.
var testedElsewhere = map[string]string{
	"docs/command-line.md":   "generated from the commands (scripts/docs -check)",
	"docs/tools.md":          "generated from real calls (scripts/docs -check)",
	"docs/packs-bundled.md":  "generated from the packs (scripts/docs -check)",
	"docs/sql.md":            "statements of the corpus (test/sourcetest/statements, TestDocs)",
	"docs/query-language.md": "filters that are evaluated (internal/interpret, TestDocumentation)",
}

// pictures lists blocks that show what comes out, or how parts fit, by page and the beginning of their first line. Commands in them
// are checked as others are. The output is checked where the comment says.
var pictures = map[string][]string{
	"docs/apis.md":           {"sources:"},                                                      // a configuration with a document, of internal/config's TestAPIsDocument
	"docs/architecture.md":   {"SELECT +v1", "request ─", "write.Request ─", "Arguments ─"},     // how parts fit
	"docs/assistant.md":      {"$ export LLM_PROVIDER=compatible", "$ bailiwick eval"},          // conversations with the scripted model of cmd/bailiwick's TestScripts/ask and eval
	"docs/attacks.md":        {"go run ./test/attack/run"},                                      // the suite on any server, of test/attack
	"docs/authentication.md": {"WWW-Authenticate:"},                                             // a header, of oauthmeta's tests
	"docs/changes.md":        {"  agent proposes", `{"type": "change.created"`, `{"change_id"`}, // the order of events. Bodies of webhooks, of internal/webhook's tests
	"docs/clients.md":        {"invalid_query:"},                                                // an answer, of tool's golden files
	"docs/duckdb.md":         {"lake/", "bailiwick-duckdb -check"},                              // where files are. Of source/duckdb, which "make duckdb" tests
	"docs/metadata.md":       {".metadata/.plugins"},                                            // where files are
	"docs/metrics.md":        {"SELECT state, MEASURE(revenue)"},                                // a statement of tool's conversation about metrics
	"docs/queries.md":        {"QUERY  "},                                                       // of cmd/bailiwick's script check_trials
	"docs/operating.md":      {"$ bailiwick doctor"},                                            // of cmd/bailiwick's script doctor
	"docs/parse.md":          {`{"$relatedTo"`},                                                 // written as Parse writes it, of TestRelatedTo
	"docs/policy.md":         {"$ bailiwick policy describe", "$ bailiwick policy diff"},        // of cmd/bailiwick's scripts policy and policy-diff
}

// A block is an example of a page: a fenced block, or one that is indented by four spaces after an empty line.
type block struct {
	page, lang, text string
	line             int
}

// blocks returns the examples of a page.
func blocks(page, text string) []block {
	var out []block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		begun := i
		if lang, fenced := strings.CutPrefix(lines[i], "```"); fenced {
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
			}
			out = append(out, block{page, lang, strings.Join(lines[begun+1:min(i, len(lines))], "\n"), begun + 1})
			continue
		}
		if !strings.HasPrefix(lines[i], "    ") || i > 0 && lines[i-1] != "" {
			continue
		}
		var body []string
		for ; i < len(lines) && (strings.HasPrefix(lines[i], "    ") || lines[i] == ""); i++ {
			body = append(body, strings.TrimPrefix(lines[i], "    "))
		}
		out = append(out, block{page, "", strings.TrimSpace(strings.Join(body, "\n")), begun + 1})
	}
	return out
}

// TestExamples goes through every example of the documentation, and fails for one that no test runs. TestPages plays
// those of the README's consoles and of the guides. Configurations, packs, tests of rules, filters and pipelines are
// parsed as the program does. Commands are given to the program, which reads their arguments. Go is code of the
// examples.
func TestExamples(t *testing.T) {
	t.Chdir("../..")
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "real"), "./cmd/bailiwick").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The program reads the arguments of a command, and then prints its help.
	if err := os.WriteFile(filepath.Join(dir, "bailiwick"), []byte("#!/bin/sh\nexec "+filepath.Join(dir, "real")+" \"$@\" --help\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	counts := map[string]int{}
	for _, page := range pages {
		page = filepath.ToSlash(page)
		if strings.HasPrefix(page, "docs/decisions/") || page == "CHANGELOG.md" || testedElsewhere[page] != "" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(page, string(text)) {
			kind := b.check(t, dir)
			if kind == "" {
				t.Errorf("%s:%d: no test runs this example; make it a console block of a guide, or something that TestExamples reads\n%s", page, b.line, b.text)
			}
			counts[kind]++
		}
	}
	t.Log(counts)
	if counts["played"] < 20 || counts["configuration"] < 25 || counts["commands"] < 25 || counts["code"] < 1 || counts["programs"] < 4 {
		t.Errorf("%v: too few to be all", counts)
	}
}

// check runs an example, and returns how, or "" if it isn't known how to.
func (b *block) check(t *testing.T, programs string) string {
	t.Helper()
	first, _, _ := strings.Cut(b.text, "\n")
	switch {
	case strings.HasPrefix(b.page, "docs/guides/") && (b.lang == "console" || strings.HasPrefix(b.text, "# FILE: ")), b.page == "README.md" && b.lang == "console":
		return "played"
	case strings.HasPrefix(b.page, "docs/guides/") && b.lang == "sql": // the database that TestPages makes
		return "shown"
	case slices.ContainsFunc(pictures[b.page], func(beginning string) bool { return strings.HasPrefix(first, beginning) }):
		b.commands(t, programs)
		return "pictures"
	case strings.HasPrefix(b.text, "package main\n"): // TestEmbedding compiles them
		return "programs"
	case b.lang == "go" || strings.HasPrefix(b.text, "func "):
		b.code(t)
		return "code"
	case strings.HasPrefix(b.text, "{") || strings.HasPrefix(b.text, "["):
		return b.json(t)
	case b.lang == "" && command.MatchString(first):
		b.commands(t, programs)
		return "commands"
	case b.page == "docs/telemetry.md" && first == "groups:": // of Prometheus. TestAlerts of internal/telemetry checks them
		return "alerts"
	case b.lang == "yaml" || key.MatchString(first):
		return b.yaml(t)
	}
	return ""
}

var (
	command = regexp.MustCompile(`^(?:bailiwick|make|go|docker|kubectl|cd|cp|export|ollama|claude|useradd|sqlite3|query_sql|# CHANGELOG|CREATE ROLE)\b`)
	key     = regexp.MustCompile(`^[a-z_]+:`)
)

// code checks that each line is one of the examples, which compile and run. A line with … is shortened.
func (b *block) code(t *testing.T) {
	t.Helper()
	known := map[string]bool{}
	line := func(s string) string {
		s, _, _ = strings.Cut(s, " // ")
		return strings.Join(strings.Fields(s), " ")
	}
	for _, pattern := range []string{"example*_test.go", "examples/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for l := range strings.Lines(string(text)) {
				known[line(l)] = true
			}
		}
	}
	for l := range strings.Lines(b.text) {
		if l = line(l); l != "" && !strings.Contains(l, "…") && !known[l] {
			t.Errorf("%s:%d: no example has the line %s", b.page, b.line, l)
		}
	}
}

// json parses a pipeline, a list of stages, a list of writes, or a filter.
func (b *block) json(t *testing.T) string {
	t.Helper()
	v, err := value.Read([]byte(b.text), 0)
	if err == nil {
		switch {
		case v.Kind() == value.Array:
			_, err = query.ParsePipeline(v, "")
		case slices.Contains(query.Stages, v.Members()[0].Name):
			_, err = query.ParsePipeline(value.OfArray([]value.Value{v}), "")
		case v.Members()[0].Name != "writes":
			_, err = query.ParseWhere(v, "")
		}
	}
	if err != nil {
		t.Errorf("%s:%d: %v", b.page, b.line, err)
	}
	return "queries"
}

// commands has the program read the arguments of its commands, and looks for the targets of make. Other programs are not run: they
// need what a machine has.
func (b *block) commands(t *testing.T, programs string) {
	t.Helper()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", " ")) {
		line = strings.TrimPrefix(line, "$ ")
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "make":
			if !bytes.Contains(makefile, []byte("\n"+words[1]+":")) {
				t.Errorf("%s:%d: make has no target %s", b.page, b.line, words[1])
			}
		case words[0] == "bailiwick":
			cmd := exec.Command("sh", "-c", line)
			cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("Usage:\n  bailiwick "+words[1])) || bytes.Contains(out, []byte("Available Commands:")) {
				t.Errorf("%s:%d: %s: %v\n%s", b.page, b.line, line, err, out)
			}
		}
	}
}

// frames are the surroundings of parts of a configuration, by their first key.
var frames = map[string]string{
	"direct":          "sources:\n  app:\n    url: parse+https://app.example/parse\n    parse:\n      app_id: a\n      master_key: b\n      as: master\n",
	"request_account": "actions:\n",
	"check_against":   "actions:\n  request:\n    on: app.accounts\n    do: create\n    input: {properties: {Name: {type: string}, active: {type: boolean}}}\n    set: {name: {$cel: input.Name}}\n",
	"reads":           "tools:\n  - name: p.do\n    description: Does it.\n    annotations: {readOnly: false}\n    input: {properties: {projectId: {type: string}, instanceId: {type: string}, template: {type: string}, env: {}}}\n",
}

// yaml parses a part of a configuration, of a pack, or tests of rules.
func (b *block) yaml(t *testing.T) string {
	t.Helper()
	var top yaml.MapSlice
	if err := yaml.Unmarshal([]byte(b.text), &top); err != nil || len(top) == 0 {
		t.Errorf("%s:%d: %v", b.page, b.line, err)
		return "configuration"
	}
	first := top[0].Key.(string)
	has := func(name string) bool {
		return slices.ContainsFunc(top, func(item yaml.MapItem) bool { return item.Key == name })
	}
	indented := func(frame string, by int) string {
		return frame + strings.Repeat(" ", by) + strings.ReplaceAll(b.text, "\n", "\n"+strings.Repeat(" ", by)) + "\n"
	}
	text := b.text
	var err error
	switch {
	case has("given"):
		_, err = policyops.ParseTests("tests.yaml", []byte(text))
	case has("tools"):
		_, err = pack.Read("ours", map[string][]byte{"ours.yaml": []byte(text)})
	case has("reads"):
		if !has("operation") {
			text += "\noperation: POST /api/v1/projects\n"
		}
		b.text = text
		_, err = pack.Read("ours", map[string][]byte{"ours.yaml": []byte(indented(frames["reads"], 4))})
	default:
		switch first {
		case "direct":
			text = frames[first] + text
		case "request_account":
			text = indented(frames[first], 2)
		case "check_against":
			text = indented(frames[first], 4)
		}
		if strings.Contains(text, "read_back:") {
			text += "\nsources: {app: {openapi: {document: teams-openapi.json, base_url: \"https://app.example/api\"}}}\n"
		}
		if !strings.Contains("\n"+text, "\nsources:") && !has("include") {
			text += "\nsources: {tracker: {url: \"sqlite:tracker.db\"}, app: {url: \"sqlite:app.db\"}, desk: {url: \"sqlite:desk.db\"}}\n"
		}
		_, err = config.Parse(filepath.Join(surroundings(t), "bailiwick.yaml"), []byte(text), func(name string) (string, bool) {
			switch {
			case strings.HasSuffix(name, "_WRITES"): // of this program
				return "", false
			case strings.HasSuffix(name, "_URL"):
				return "https://hooks.example/in", true
			}
			return base64.StdEncoding.EncodeToString(make([]byte, 32)), true
		})
	}
	if err != nil {
		t.Errorf("%s:%d: %v\n%s", b.page, b.line, err, text)
	}
	return "configuration"
}

// surroundings returns a folder with the files that parts of configurations name.
func surroundings(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"rules/issues.yaml": "classes: {tracker.issues: {}}\n", "sources.yaml": "sources: {tracker: {url: \"sqlite:tracker.db\"}}\n", "otlp-token": "token\n",
		"mail-openapi.json": `{"openapi": "3.1.0", "info": {"title": "Mail", "version": "1"}, "paths": {"/letters": {"get": {"operationId": "listLetters", "responses": {"200": {"description": "letters"}}}}}}`,
		"teams-openapi.json": `{"openapi": "3.1.0", "info": {"title": "Teams", "version": "1"}, "paths": {"/teams": {
			"get": {"operationId": "listTeams", "parameters": [{"name": "name", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "teams"}}},
			"post": {"operationId": "createTeam", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}, "owner": {"type": "string"}}}}}},
				"responses": {"201": {"description": "the team"}}}}}}`,
		"packs/ours/ours.yaml": "tools:\n  - {name: ours.stacks, description: List the stacks., annotations: {readOnly: true}, operation: GET /api/v1/stacks}\n",
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

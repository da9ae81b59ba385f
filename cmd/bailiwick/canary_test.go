package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// canaries contains unique texts by name. They must not appear in anything that operators read.
type canaries map[string]string

// making guards the map of canaries, because calls run concurrently.
var making sync.Mutex

// of returns the canary with this name and creates it if needed. It consists only of letters, so that escaping
// doesn't change it.
func (c canaries) of(name string) string {
	making.Lock()
	defer making.Unlock()
	if c[name] == "" {
		c[name] = fmt.Sprintf("canary%s%sx", strings.NewReplacer(" ", "", "'", "").Replace(name), strings.Repeat("q", 3+len(c)))
	}
	return c[name]
}

// An aviary is a running server process with its outputs.
type aviary struct {
	canaries
	dir, program, url string
	process           *exec.Cmd
	stderr, spans     lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestCanaries runs the program on SQLite and PostgreSQL with all telemetry on. It puts a canary into each place that
// contains a value, a credential or an agent's text. Then it searches for the canaries in everything that operators
// read, and in the answers to another principal.
func TestCanaries(t *testing.T) {
	a := newAviary(t)
	agent, other, auditor := a.token(t, "--name", "agent", "--tenant", "acme", "--filter", `notes={"text":{"$ne":"`+a.of("value of a token's filter")+`"}}`), a.token(t, "--name", "other", "--tenant", "globex"),
		a.token(t, "--name", "auditor", "--kind", "human", "--scopes", "audit")
	a.canaries["token of the agent"], a.canaries["token of the other"], a.canaries["token of the auditor"] = agent, other, auditor
	a.start(t)
	a.misuse(t, agent)

	var others strings.Builder
	for _, call := range [][2]string{{"query_class", `{"class_name":"notes"}`}, {"query_class", `{"class_name":"people"}`}, {"query_class", `{"class_name":"nonsense"}`},
		{"get_objects", `{"class_name":"notes","ids":["1","2"]}`}, {"count_objects", `{"class_name":"broken"}`}, {"query_class", `{"class_name":"broken"}`},
		{"get_all_schemas", `{}`}, {"get_schema", `{"class_name":"notes"}`}, {"explain_query", `{"class_name":"notes"}`}} {
		others.WriteString(a.call(t, other, call[0], call[1]))
	}
	metrics := a.get(t, "/metrics", auditor)
	a.stop(t)
	audit, err := exec.CommandContext(t.Context(), a.program, "audit", "export", "--config", filepath.Join(a.dir, "bailiwick.yaml")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, audit)
	}
	store := ""
	for _, file := range []string{"bailiwick.db", "bailiwick.db-wal"} {
		b, err := os.ReadFile(filepath.Join(a.dir, file))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		store += string(b)
	}
	for sink, s := range map[string]struct{ text, holds string }{
		"standard error":   {a.stderr.String(), "talk-7f3"},
		"traces":           {a.spans.String(), "talk-7f3"},
		"metrics":          {metrics, `bailiwick_calls_total{error_code="",outcome="ok",tool="query_class"}`},
		"audit":            {string(audit), "talk-7f3"},
		"store":            {store, "talk-7f3"},
		"another's answer": {others.String(), "globex note"},
	} {
		if !strings.Contains(s.text, s.holds) {
			t.Errorf("%s doesn't hold %q, so it is not what was looked for:\n%.2000s", sink, s.holds, s.text)
		}
		for name, canary := range a.canaries {
			if sink == "another's answer" && name == "value of a canonical filter" || sink == "store" && name == "value of a token's filter" {
				continue // get_schema shows agents the condition for live records, and the store contains tokens
			}
			if at := strings.Index(s.text, canary); at >= 0 {
				t.Errorf("%s holds the %s: …%s…", sink, name, s.text[max(at-200, 0):min(at+100, len(s.text))])
			}
		}
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%d canaries; standard error:\n%.6000s", len(a.canaries), a.stderr.String())
	}
}

func newAviary(t *testing.T) *aviary {
	t.Helper()
	a := &aviary{canaries: canaries{}, dir: t.TempDir()}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a.program = filepath.Join(a.dir, "bailiwick") // under this name, the test binary acts as the program
	if err := os.Symlink(exe, a.program); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(a.dir, "notes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE notes (id INTEGER PRIMARY KEY, org_id TEXT NOT NULL, text TEXT, inner TEXT);
		INSERT INTO notes VALUES (1, 'acme', '`+a.of("visible value")+`', '`+a.of("value of a hidden field")+`'), (2, 'acme', '`+a.of("value of a hidden row")+`', ''), (3, 'globex', 'globex note', '');
		UPDATE notes SET inner = inner || 'x'; UPDATE notes SET text = text || '' WHERE id = 2`); err != nil {
		t.Fatal(err)
	}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := io.Copy(&a.spans, body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(collector.Close)
	a.write(t, "bailiwick.yaml", `listen: 127.0.0.1:0
store: sqlite:bailiwick.db
sources:
  local: {url: "sqlite:notes.db"}
  crm: {url: "`+a.postgres(t)+`"}
classes:
  notes: {tenant: {field: org_id}, visible: [id, org_id, text], canonical: {text: {$ne: "`+a.of("value of a canonical filter")+`"}}}
  people: {tenant: {field: org_id}}
  broken: {}
limits: {price_per_million_tokens: 3}
server: {metrics: true}
log: {level: debug}
telemetry: {sample: 1, otlp: {endpoint: "`+collector.URL+`", headers: {authorization: "Bearer `+a.of("header for the collector")+`"}}}
`)
	return a
}

// postgres fills a database and returns its URL. The password of the role is a canary.
func (a *aviary) postgres(t *testing.T) string {
	t.Helper()
	at := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	role := fmt.Sprintf("reader_%d", os.Getpid())
	if _, err := conn.Exec(t.Context(), `CREATE TABLE people (id int PRIMARY KEY, org_id text NOT NULL, name text);
		INSERT INTO people VALUES (1, 'acme', '`+a.of("value in PostgreSQL")+`'), (2, 'globex', 'Ann');
		CREATE VIEW broken AS SELECT id, name::int AS n FROM people WHERE id = 1;
		CREATE ROLE `+role+` LOGIN PASSWORD '`+a.of("password of a database")+`'; GRANT SELECT ON people, broken TO `+role); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, a.of("password of a database"))
	return u.String()
}

func (a *aviary) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *aviary) token(t *testing.T, flags ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), a.program, append([]string{"token", "create", "--json", "--owner", "ann", "--store", "sqlite:" + filepath.Join(a.dir, "bailiwick.db")}, flags...)...)
	out, err := cmd.Output()
	var made struct {
		Token string `json:"token"`
	}
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil || made.Token == "" {
		t.Fatalf("token create: %v\n%s", err, out)
	}
	return made.Token
}

func (a *aviary) start(t *testing.T) {
	t.Helper()
	a.process = exec.CommandContext(t.Context(), a.program, "serve", "--config", filepath.Join(a.dir, "bailiwick.yaml"))
	a.process.Stderr = &a.stderr
	a.process.Dir = a.dir
	out, err := a.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.process.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("%q %v\n%s", line, err, a.stderr.String())
	}
	a.url = strings.TrimSuffix(at, "/mcp")
}

// stop ends the process. The process first sends its buffered telemetry.
func (a *aviary) stop(t *testing.T) {
	t.Helper()
	if err := a.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(30*time.Second, func() { _ = a.process.Process.Kill() }) // Wait then returns an error
	defer late.Stop()
	if err := a.process.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, a.stderr.String())
	}
}

// send posts body to the path and returns the answer.
func (a *aviary) send(t *testing.T, path, body string, headers ...string) (string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		r.Header.Set(name, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), res.Header
}

// call calls a tool as clients of MCP 2026-07-28 do.
func (a *aviary) call(t *testing.T, token, tool, arguments string, headers ...string) string {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":"` + a.of("id of a request") + `","method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"` + a.of("key of _meta") + `":"` + a.of("value of _meta") + `"}}}`
	answer, _ := a.send(t, "/mcp?key="+a.of("query of the URL"), body, append([]string{"Authorization: Bearer " + token, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
		"Mcp-Name: " + tool, "X-Mcp-Session-Id: talk-7f3", "X-Anything: " + a.of("header"), "User-Agent: " + a.of("user agent"), "Cookie: c=" + a.of("cookie")}, headers...)...)
	return strings.ReplaceAll(answer, a.of("id of a request"), "1")
}

func (a *aviary) get(t *testing.T, path, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", path, res.Status, err)
	}
	return string(b)
}

// misuse writes canaries into every place that an agent can write to, in both versions of the protocol.
func (a *aviary) misuse(t *testing.T, agent string) {
	t.Helper()
	calls := [][2]string{
		{"query_class", `{"class_name":"notes"}`},
		{"query_class", `{"class_name":"notes","where":{"text":"` + a.of("value in where") + `"}}`},
		{"query_class", `{"class_name":"people","where":{"name":{"$regex":"` + a.of("regular expression") + `("}}}`},
		{"query_class", `{"class_name":"notes","where":{"` + a.of("field in where") + `":1}}`},
		{"query_class", `{"class_name":"notes","cursor":"` + a.of("cursor") + `"}`},
		{"query_class", `{"class_name":"notes","` + a.of("key of an argument") + `":1}`},
		{"query_class", `{"class_name":"broken"}`},
		{"aggregate", `{"class_name":"people","pipeline":[{"$match":{"name":"` + a.of("value in a pipeline") + `"}},{"$project":{"` + a.of("name in a pipeline") + `":"$name"}}]}`},
		{"aggregate", `{"class_name":"people","pipeline":[{"$` + a.of("stage") + `":1}]}`},
		{"get_object", `{"class_name":"notes","object_id":"` + a.of("id") + `"}`},
		{"get_objects", `{"class_name":"people","ids":["1","` + a.of("one of the ids") + `"]}`},
		{"export_data", `{"class_name":"notes","format":"csv","where":{"text":{"$ne":"` + a.of("value in an export") + `"}}}`},
		{"group_by", `{"class_name":"people","field":"name","where":{"name":{"$in":["` + a.of("value in a group") + `"]}}}`},
	}
	seen := ""
	for _, c := range calls {
		seen += a.call(t, agent, c[0], c[1], "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	}
	if !strings.Contains(seen, a.of("visible value")) || !strings.Contains(seen, "upstream_error") {
		t.Errorf("the agent reads no visible value, or no database failed:\n%s", seen)
	}
	a.call(t, agent, "query_class", `{"class_name":"notes"}`, "Traceparent: "+a.of("traceparent"), "X-Mcp-Session-Id: "+a.of("session")+" !")
	for _, token := range []string{a.of("token that nobody has"), "bw_" + a.of("token of our form"), "eyJhbGciOiJub25lIn0." + a.of("claims") + "." + a.of("signature")} {
		a.call(t, token, "query_class", `{"class_name":"notes"}`)
	}
	a.send(t, "/mcp", `{"a":`+a.of("broken JSON"), "Authorization: Bearer "+agent)
	a.send(t, "/mcp", `{}`, "X-MCP-API-Key: "+a.of("key of an API"))
	a.send(t, "/mcp", `{}`, "Authorization: Basic "+a.of("basic credential"))

	_, h := a.send(t, "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"`+a.of("name of a client")+`","version":"1"}}}`,
		"Authorization: Bearer "+agent)
	session := []string{"Authorization: Bearer " + agent, "Mcp-Protocol-Version: 2025-11-25", "Mcp-Session-Id: " + h.Get("Mcp-Session-Id"), "X-Mcp-Session-Id: talk-7f3"}
	if h.Get("Mcp-Session-Id") == "" {
		t.Fatal("no session")
	}
	a.canaries["id of a session"] = h.Get("Mcp-Session-Id")
	for _, m := range []string{
		`"method":"tools/call","params":{"name":"query_class","arguments":{"class_name":"broken"},"_meta":{"progressToken":"` + a.of("token of progress") + `"}}`,
		`"method":"` + a.of("method") + `"`,
		`"method":"prompts/get","params":{"name":"count_by","arguments":{"class_name":"notes","group_by":"` + a.of("argument of a prompt") + `","` + a.of("key of a prompt") + `":"1"}}`,
		`"method":"resources/read","params":{"uri":"bailiwick://local/notes/` + a.of("resource") + `"}`,
		`"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"count_by"},"argument":{"name":"class_name","value":"` + a.of("what is completed") + `"}}`,
		`"method":"logging/setLevel","params":{"level":"` + a.of("level") + `"}`,
	} {
		a.send(t, "/mcp", `{"jsonrpc":"2.0","id":1,`+m+`}`, slices.Clone(session)...)
	}
}

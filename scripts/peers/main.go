// Command peers measures Bailiwick and other MCP servers side by side, over the same database. It writes their figures
// into a Markdown file, between the lines <!-- peers --> and <!-- /peers -->.
//
//	peers BAILIWICK PACKAGES FILE            PACKAGES is a folder with node_modules of @toolbox-sdk/server and @bytebase/dbhub
//	peers BAILIWICK PACKAGES FILE FOLDER     the tokens of the questions in FOLDER, as those of test/agent
//
// scripts/bench-peers builds and installs what it needs. The questions are asked of PostgreSQL and of SQLite. In
// BAILIWICK_TEST_POSTGRES it makes a database and drops it at the end. Bailiwick runs with tokens, rules and its audit on the disk.
package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"
)

const (
	orders   = 200_000
	callers  = 32
	lasts    = 1500 * time.Millisecond // one measurement
	rounds   = 3                       // of each, one after the other. The median is written
	sessions = 10_000
)

func main() {
	if len(os.Args) < 4 || len(os.Args) > 5 {
		fmt.Fprintln(os.Stderr, "usage: peers BAILIWICK PACKAGES FILE [FOLDER]")
		os.Exit(2)
	}
	var err error
	if len(os.Args) == 5 {
		err = asks(os.Args[1], os.Args[2], os.Args[4], os.Args[3])
	} else {
		err = run(os.Args[1], os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(program, packages, file string) (err error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, drop, err := makePostgres(ctx, os.Getenv("BAILIWICK_TEST_POSTGRES"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()

	lite, err := makeSQLite(ctx, filepath.Join(dir, "orders.db"))
	if err != nil {
		return err
	}
	var out []*figure
	var first *server
	for _, at := range []database{{"PostgreSQL", db}, {"SQLite", lite}} {
		for _, make := range []func(setting) (*server, error){bailiwick, toolbox, dbhub} {
			own, err := os.MkdirTemp(dir, "server")
			if err != nil {
				return err
			}
			one, err := make(setting{program, packages, own, at})
			if err != nil {
				fmt.Println("LEFT OUT:", at.name+":", err)
				continue
			}
			defer one.stop()
			if one.database = at.name; first == nil {
				first = one
			}
			for _, call := range one.calls {
				out = append(out, &figure{server: one, call: call})
			}
		}
	}
	for range rounds { // in turn, so that other work of the machine affects all of them
		for _, f := range out {
			if err := f.measure(ctx); err != nil {
				return err
			}
		}
	}
	open, err := first.sessions(ctx)
	if err != nil {
		return err
	}
	return write(file, out, open)
}

// A database holds the orders.
type database struct {
	name string
	url  *url.URL
}

// at returns its address, for SQLite its path after scheme.
func (d database) at(scheme string) string {
	if d.name == "SQLite" {
		return scheme + d.url.Path
	}
	return d.url.String()
}

// makeSQLite makes an SQLite file with the orders.
func makeSQLite(ctx context.Context, path string) (*url.URL, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for _, text := range []string{`CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, status TEXT NOT NULL, amount NUMERIC(10,2) NOT NULL, placed TIMESTAMP NOT NULL, note TEXT NOT NULL)`,
		fmt.Sprintf(`INSERT INTO orders WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i, 'acme', CASE i %% 4 WHEN 0 THEN 'open' WHEN 1 THEN 'paid' WHEN 2 THEN 'sent' ELSE 'closed' END,
			i %% 997 + 0.25, strftime('%%Y-%%m-%%dT%%H:%%M:%%SZ', 1767225600 + i * 60, 'unixepoch'), 'order ' || i FROM s`, orders), `ANALYZE`} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return nil, err
		}
	}
	return &url.URL{Path: path}, nil
}

// makePostgres creates a database with orders on the server of the database at the address at, and returns its address.
func makePostgres(ctx context.Context, at string) (u *url.URL, drop func() error, err error) {
	if u, err = url.Parse(at); err != nil || at == "" {
		return nil, nil, errors.Join(errors.New("BAILIWICK_TEST_POSTGRES names no database"), err)
	}
	name := fmt.Sprint("peers", os.Getpid())
	admin, err := pgx.Connect(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if _, err := admin.Exec(ctx, `CREATE DATABASE `+name); err != nil {
		return nil, nil, err
	}
	drop = func() error {
		defer admin.Close(ctx)
		_, err := admin.Exec(ctx, `DROP DATABASE `+name+` WITH (FORCE)`)
		return err
	}
	u.Path = "/" + name
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	defer conn.Close(ctx)
	for _, text := range []string{`CREATE TABLE orders (id integer PRIMARY KEY, tenant text NOT NULL, status text NOT NULL, amount numeric(10,2) NOT NULL, placed timestamptz NOT NULL, note text NOT NULL)`,
		fmt.Sprintf(`INSERT INTO orders SELECT i, 'acme', (ARRAY['open','paid','sent','closed'])[1 + i %% 4], i %% 997 + 0.25, '2026-01-01'::timestamptz + i * interval '1 minute', 'order ' || i FROM generate_series(1, %d) AS i`, orders),
		`VACUUM ANALYZE orders`} {
		if _, err := conn.Exec(ctx, text); err != nil {
			return nil, nil, errors.Join(err, drop())
		}
	}
	return u, drop, nil
}

// A setting is what servers are made of.
type setting struct {
	program, packages, dir string
	db                     database
}

// A server is a process that answers MCP over HTTP.
type server struct {
	name     string
	database string
	cmd      *exec.Cmd
	url      string
	ready    time.Duration
	calls    []call
}

// A call is a question as one server is asked it. body contains %d in place of an id, or nothing to replace.
type call struct {
	question, as string
	header       map[string]string
	body         string
	begin        string // a request whose answer names the session, or ""
}

const accept = "application/json, text/event-stream"

// start starts a server that will listen at port, and waits until it accepts connections.
func start(name string, port int, cmd *exec.Cmd, dir string) (*server, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, dir
	from := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &server{name: name, cmd: cmd, url: fmt.Sprintf("http://127.0.0.1:%d/mcp", port)}
	for time.Since(from) < time.Minute {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			s.ready = time.Since(from)
			return s, conn.Close()
		}
		time.Sleep(time.Millisecond)
	}
	s.stop()
	said, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("%s doesn't listen: %s", name, said)
}

func (s *server) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait() // it was killed
}

func free() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func request(tool, arguments, meta string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + meta + `}}`
}

// gateway starts Bailiwick with a configuration, to which it adds a store. It returns the value of the header
// Authorization for an agent.
func gateway(program, dir, configuration string) (s *server, bearer string, err error) {
	port, err := free()
	if err != nil {
		return nil, "", err
	}
	config := filepath.Join(dir, "bailiwick.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "store: sqlite:%s\n%s", filepath.Join(dir, "store.db"), configuration), 0o600); err != nil {
		return nil, "", err
	}
	made, err := exec.Command(program, "token", "create", "--json", "--config", config, "--name", "peer", "--owner", "ann", "--tenant", "acme").Output()
	if err != nil {
		return nil, "", fmt.Errorf("bailiwick token create: %w: %s", err, made)
	}
	var token struct{ Token string }
	if err := json.Unmarshal(made, &token); err != nil || token.Token == "" {
		return nil, "", fmt.Errorf("bailiwick token create said %s", made)
	}
	s, err = start("bailiwick", port, exec.Command(program, "serve", "--config", config, "--listen", fmt.Sprintf("127.0.0.1:%d", port)), dir)
	return s, "Bearer " + token.Token, err
}

func bailiwick(s setting) (*server, error) {
	out, bearer, err := gateway(s.program, s.dir, fmt.Sprintf("sources:\n  shop: {url: %q}\nlimits: {rate: 9999999/min, burst: 100000, concurrency: 100}\nserver: {sessions: {max: %d, each: %[2]d}}\nclasses:\n  shop.orders:\n    tenant: {field: tenant, is: principal.tenant}\n",
		s.db.at("sqlite:"), sessions))
	if err != nil {
		return nil, err
	}
	for _, q := range []struct{ question, tool, arguments string }{
		{"point read", "get_object", `{"class_name":"orders","object_id":"%d"}`},
		{"50 rows", "query_class", `{"class_name":"orders","order":"id","limit":50,"where":{"id":{"$gt":%d}}}`},
		{"group", "group_by", `{"class_name":"orders","field":"status"}`},
	} {
		out.calls = append(out.calls, call{question: q.question, as: "2026-07-28", header: map[string]string{"Authorization": bearer, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": q.tool},
			body: request(q.tool, q.arguments, `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`)})
		if q.question != "group" {
			out.calls = append(out.calls, call{question: q.question, as: "2025-11-25", header: map[string]string{"Authorization": bearer, "Mcp-Protocol-Version": "2025-11-25"}, body: request(q.tool, q.arguments, ""),
				begin: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"peers","version":"1"}}}`})
		}
	}
	return out, nil
}

// statements are the questions in SQL, for servers that take it.
var statements = []struct{ question, sql string }{
	{"point read", `SELECT * FROM orders WHERE id = $1 AND tenant = 'acme'`},
	{"50 rows", `SELECT * FROM orders WHERE id > $1 AND tenant = 'acme' ORDER BY id LIMIT 50`},
	{"group", `SELECT status, count(*) FROM orders WHERE tenant = 'acme' GROUP BY status`},
}

func toolbox(s setting) (*server, error) {
	port, err := free()
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	kind, mark := "postgres-sql", "$1"
	if s.db.name == "SQLite" {
		kind, mark = "sqlite-sql", "?"
		fmt.Fprintf(&text, "sources:\n  shop: {kind: sqlite, database: %q}\ntools:\n", s.db.url.Path)
	} else {
		u := s.db.url
		password, _ := u.User.Password()
		fmt.Fprintf(&text, "sources:\n  shop: {kind: postgres, host: %s, port: %s, database: %s, user: %s, password: %q}\ntools:\n", u.Hostname(), u.Port(), u.Path[1:], u.User.Username(), password)
	}
	var calls []call
	for i, st := range statements {
		fmt.Fprintf(&text, "  t%d: {kind: %s, source: shop, description: a question, statement: %q", i, kind, strings.ReplaceAll(st.sql, "$1", mark))
		arguments := `{}`
		if strings.Contains(st.sql, "$1") {
			text.WriteString(", parameters: [{name: id, type: integer, description: an id}]")
			arguments = `{"id":%d}`
		}
		text.WriteString("}\n")
		calls = append(calls, call{question: st.question, as: "no session", body: request(fmt.Sprint("t", i), arguments, "")})
	}
	config := filepath.Join(s.dir, "tools.yaml")
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	native, _ := filepath.Glob(filepath.Join(s.packages, "node_modules/@toolbox-sdk/server-*/bin/toolbox*"))
	if len(native) != 1 {
		return nil, errors.New("@toolbox-sdk/server isn't installed for this machine")
	}
	out, err := start("toolbox", port, exec.Command(native[0], "--config", config, "--port", strconv.Itoa(port), "--disable-reload", "--disable-version-check", "--log-level", "ERROR"), s.dir)
	if err == nil {
		out.calls = calls
	}
	return out, err
}

func dbhub(s setting) (*server, error) {
	program := filepath.Join(s.packages, "node_modules/.bin/dbhub")
	if _, err := os.Stat(program); err != nil {
		return nil, errors.New("@bytebase/dbhub isn't installed")
	}
	port, err := free()
	if err != nil {
		return nil, err
	}
	out, err := start("dbhub", port, exec.Command(program, "--transport", "http", "--port", strconv.Itoa(port), "--dsn", s.db.at("sqlite://")), s.dir)
	if err != nil {
		return nil, err
	}
	for _, st := range statements {
		out.calls = append(out.calls, call{question: st.question, as: "no session", body: request("execute_sql", `{"sql":"`+strings.ReplaceAll(st.sql, "$1", "%d")+`"}`, "")})
	}
	return out, nil
}

// replace puts text between the lines <!-- name --> and <!-- /name --> of a file.
func replace(file, name, text string) error {
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	doc, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %q and %q", file, begin, end)
	}
	return os.WriteFile(file, []byte(before+begin+text+end+after), 0o644)
}

func write(file string, figures []*figure, open string) error {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	var b strings.Builder
	cpus, _ := exec.Command("nproc").Output()
	fmt.Fprintf(&b, "\n- machine: %s processors, linux; load at the end %s\n- database: %d orders; %d callers, one for group; the median of %d rounds of %s in turn\n- %s\n- date: %s\n\n", strings.TrimSpace(string(cpus)), strings.Fields(string(load))[0],
		orders, callers, rounds, lasts, open, time.Now().UTC().Format(time.DateOnly))
	b.WriteString("| database | question | server | protocol | calls/s | p50 ms | p99 ms | CPU ms a call | tokens of the answer | listens after ms | RSS MiB |\n|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|\n")
	slices.SortStableFunc(figures, func(a, b *figure) int {
		return cmp.Or(strings.Compare(a.server.database, b.server.database), strings.Compare(b.call.question, a.call.question))
	})
	for _, f := range figures {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.0f | %.2f | %.2f | %.2f | %d | %d | %d |\n", f.server.database, f.call.question, f.server.name, f.call.as, median(f.rate), median(f.p50), median(f.p99), median(f.cpu), f.tokens, f.server.ready.Milliseconds(), f.resident)
	}
	fmt.Print(b.String())
	return replace(file, "peers", b.String()+"\n")
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

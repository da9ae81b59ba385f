package operations

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // for database/sql

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// moves is how many changes are made around a failover.
const moves = 16

// The texts that agents and programs may get while the database is gone, besides their answers.
var outage = regexp.MustCompile(`The gateway can't reach its records now\. Try again in \d+ seconds|the gateway can't keep its records, so it answers no calls|` +
	`Too many calls|the source could not answer|the change may be carried out all the same|The change .* may be carried out all the same|the query took too long and was stopped`)

// TestFailover ends the primary of PostgreSQL at once, which holds the store and the source, while changes are filed, approved and applied. HAProxy
// leads to the standby then, which is promoted. Each change that was acknowledged is applied once, and its records are there.
func TestFailover(t *testing.T) {
	program, why := services.Proxy("haproxy")
	if why != "" {
		t.Skip("LEFT OUT: HAProxy: " + why)
	}
	f := &fleet{t: t, dir: t.TempDir()}
	f.build()
	pair := newPair(f)
	at := pair.proxied(program)
	f.write("bailiwick.yaml", "store: postgres://gate@"+at+"/gate?sslmode=disable\nsources: {app: {url: \"postgres://gate@"+at+"/app?sslmode=disable\"}}\n"+
		"policy: {unlisted: visible}\ngates: {writes: review, raw_writes: review}\nlimits: {rate: 100000/min}\n")
	r := &replica{fleet: f, addr: free(t)}
	f.replicas = []*replica{r}
	r.start()
	t.Cleanup(func() {
		if r.cmd != nil {
			_ = r.cmd.Process.Kill() // it may have ended
			<-r.ended
		}
	})
	agent := &caller{t: t, base: "http://" + r.addr, token: f.token("bot", "agent", "read,write")}
	person := &caller{t: t, base: agent.base, token: f.token("ben", "human", "read,review")}
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for n := next.Add(1); n <= moves && !t.Failed(); n = next.Add(1) {
				if id := agent.files(f, n); id != "" && person.approves(f, id) {
					done.Add(1)
				}
			}
		})
	}
	f.await("changes before the failover", func() bool { return done.Load() >= moves/4 || t.Failed() })
	pair.failover()
	wg.Wait()
	if n := done.Load(); n != moves {
		t.Fatalf("%d of %d changes were applied\n%s", n, moves, r.logged())
	}
	if told := agent.said.Load() + person.said.Load(); told == 0 {
		t.Error("the database was gone, and nobody was told")
	}
	if !strings.Contains(r.logged(), "in PostgreSQL at "+at+"/gate: the database") {
		t.Errorf("the log doesn't name the database:\n%s", r.logged())
	}
	db := pair.database(pair.standby, "app")
	for n := 1; n <= moves; n++ {
		var value, written int
		row := db.QueryRow(`SELECT n, (SELECT count(*) FROM written WHERE id = notes.id) FROM notes WHERE id = $1`, n)
		if err := row.Scan(&value, &written); err != nil || value != n || written != 1 {
			t.Errorf("note %d has %d, and was written %d times: %v", n, value, written, err)
		}
	}
	r.stop(syscall.SIGINT)
	config := filepath.Join(f.dir, "bailiwick.yaml")
	f.run(f.program, "audit", "verify", "--config", config)
	if n := strings.Count(f.run(f.program, "audit", "export", "--config", config), `"tool":"changes/applied"`); n != moves {
		t.Errorf("%d changes have a record that they were applied, want %d", n, moves)
	}
}

// build builds the program.
func (f *fleet) build() {
	f.t.Helper()
	f.program = filepath.Join(os.Getenv("BAILIWICK_PLAIN"), "bailiwick")
	if os.Getenv("BAILIWICK_PLAIN") == "" {
		f.program = filepath.Join(f.dir, "bailiwick")
		f.run("go", "build", "-C", "../..", "-o", f.program, "./cmd/bailiwick")
	}
}

// token makes a token.
func (f *fleet) token(name, kind, scopes string) string {
	f.t.Helper()
	var made struct{ Token string }
	out := f.run(f.program, "token", "create", "--config", filepath.Join(f.dir, "bailiwick.yaml"), "--name", name, "--owner", name, "--kind", kind, "--scopes", scopes, "--json")
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.Token == "" {
		f.t.Fatal(out, err)
	}
	return made.Token
}

// A caller calls the server, and counts the answers about the outage.
type caller struct {
	t           *testing.T
	base, token string
	said        atomic.Int64
}

// post sends a request and returns the answer.
func (c *caller) post(method, path, text string, head map[string]string) (int, string) {
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(text))
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + c.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		r.Header.Set(k, v)
	}
	for k, v := range head {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Error(err)
	}
	return res.StatusCode, string(body)
}

// told counts an answer that says what the docs say of an outage. Any other one is an error.
func (c *caller) told(what string, status int, text string) {
	if !outage.MatchString(text) {
		c.t.Errorf("%s: %d %s", what, status, text)
		return
	}
	c.said.Add(1)
}

// files proposes to set note n to n until the change is filed, and returns its ID.
func (c *caller) files(f *fleet, n int64) (id string) {
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_object","arguments":{"class_name":"notes","object_id":"` + strconv.FormatInt(n, 10) +
		`","data":{"n":` + strconv.FormatInt(n, 10) + `}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	filed := regexp.MustCompile(`ID: ([0-9a-z]{20,})`)
	f.await("a change that is filed", func() bool {
		status, text := c.post(http.MethodPost, "/mcp", call, map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "update_object"})
		if m := filed.FindStringSubmatch(text); m != nil {
			id = m[1]
			return true
		}
		c.told("a proposal", status, text)
		return c.t.Failed()
	})
	return id
}

// approves approves a change until it is applied.
func (c *caller) approves(f *fleet, id string) (applied bool) {
	f.await("a change that is applied", func() bool {
		var sheet struct{ State, Digest string }
		status, text := c.post(http.MethodGet, "/api/changes/"+id, "", nil)
		if err := json.Unmarshal([]byte(text), &sheet); err != nil || status != http.StatusOK {
			c.told("a change", status, text)
			return c.t.Failed()
		}
		switch sheet.State {
		case "applied":
			applied = true
		case "pending":
			if status, text := c.post(http.MethodPost, "/api/changes/"+id+"/approve", `{"digest":"`+sheet.Digest+`"}`, nil); status != http.StatusOK && !strings.Contains(text, "conflict") {
				c.told("an approval", status, text)
			}
		case "approved", "applying":
		default:
			c.t.Errorf("change %s is %s: %s", id, sheet.State, text)
		}
		return applied || c.t.Failed()
	})
	return applied
}

// A pair is a primary of PostgreSQL and a standby that has all data that the primary acknowledges.
type pair struct {
	f                *fleet
	bin, dir         string
	as               *syscall.Credential // nil for the user of the test
	primary, standby string              // their addresses
}

// newPair starts the two, with a database for the store and one for the source.
func newPair(f *fleet) *pair {
	t := f.t
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_basebackup")
	if err != nil || len(found) == 0 {
		t.Skip("LEFT OUT: PostgreSQL: no /usr/lib/postgresql/*/bin")
	}
	p := &pair{f: f, bin: filepath.Dir(slices.Max(found)), primary: free(t), standby: free(t)}
	if p.dir, err = os.MkdirTemp("/tmp", "bailiwick-pair-"); err != nil { // a folder of t has a path that is too long for a socket
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if os.Getuid() == 0 { // PostgreSQL refuses root
		p.own(t)
	}
	p.run("initdb", "-D", "a", "-U", "gate", "-A", "trust", "--no-sync")
	p.start("a", p.primary)
	p.sql(p.primary, "postgres", "CREATE DATABASE gate", "CREATE DATABASE app")
	p.sql(p.primary, "app", "CREATE TABLE notes (id int PRIMARY KEY, n int)", fmt.Sprint("INSERT INTO notes SELECT i, 0 FROM generate_series(1, ", moves, ") i"),
		"CREATE TABLE written (id int)", "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO written VALUES (NEW.id); RETURN NEW; END $$",
		"CREATE TRIGGER note AFTER UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION note()")
	_, port, err := net.SplitHostPort(p.primary)
	if err != nil {
		t.Fatal(err)
	}
	p.run("pg_basebackup", "-D", "b", "-h", "127.0.0.1", "-p", port, "-U", "gate", "-R", "-X", "stream", "--checkpoint=fast", "--no-sync")
	p.start("b", p.standby)
	p.sql(p.primary, "postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
	db := p.database(p.primary, "postgres")
	f.await("a standby that keeps up", func() bool {
		var n int
		err := db.QueryRow("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&n)
		return err == nil && n == 1
	})
	return p
}

// own gives the folder to the user postgres, whose the servers are.
func (p *pair) own(t *testing.T) {
	t.Helper()
	who, err := user.Lookup("postgres")
	if err != nil {
		t.Skip("LEFT OUT: PostgreSQL: no user postgres")
	}
	uid, _ := strconv.Atoi(who.Uid) // they are numbers
	gid, _ := strconv.Atoi(who.Gid)
	p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(p.dir, uid, gid); err != nil {
		t.Fatal(err)
	}
}

// run runs a program of PostgreSQL in the folder.
func (p *pair) run(name string, args ...string) {
	p.f.t.Helper()
	log, err := os.OpenFile(filepath.Join(p.f.dir, "postgres.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		p.f.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.dir, log, log, &syscall.SysProcAttr{Credential: p.as}
	if err := cmd.Run(); err != nil {
		p.f.t.Fatalf("%s: %v\n%s", name, err, p.f.logs())
	}
}

// start starts the server of a folder. The cleanup ends it.
func (p *pair) start(data, at string) {
	p.f.t.Helper()
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		p.f.t.Fatal(err)
	}
	p.f.t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(p.dir, data, "postmaster.pid")); err == nil {
			p.run("pg_ctl", "-D", data, "-m", "immediate", "stop")
		}
	})
	p.run("pg_ctl", "-D", data, "-w", "-o", "-p "+port+" -c listen_addresses=127.0.0.1 -c unix_socket_directories="+p.dir, "start")
}

// failover ends the primary at once, and promotes the standby.
func (p *pair) failover() {
	p.f.t.Helper()
	p.run("pg_ctl", "-D", "a", "-m", "immediate", "stop")
	p.run("pg_ctl", "-D", "b", "-w", "promote")
}

// database opens a database of one of the servers.
func (p *pair) database(at, name string) *sql.DB {
	p.f.t.Helper()
	db, err := sql.Open("pgx", "postgres://gate@"+at+"/"+name+"?sslmode=disable")
	if err != nil {
		p.f.t.Fatal(err)
	}
	p.f.t.Cleanup(func() { db.Close() })
	return db
}

// sql runs statements, each in a transaction of its own.
func (p *pair) sql(at, name string, statements ...string) {
	p.f.t.Helper()
	db := p.database(at, name)
	for _, s := range statements {
		if _, err := db.ExecContext(p.f.t.Context(), s); err != nil {
			p.f.t.Fatalf("%s: %v", s, err)
		}
	}
}

// proxied starts HAProxy before the two and returns its address. It leads to the standby while the primary doesn't answer.
func (p *pair) proxied(program string) string {
	f, at := p.f, free(p.f.t)
	f.t.Helper()
	file := f.write("pair.cfg", "global\n  maxconn 500\ndefaults\n  mode tcp\n  timeout connect 2s\n  timeout client 1h\n  timeout server 1h\n"+
		"listen postgres\n  bind "+at+"\n  option redispatch\n  default-server check inter 200ms fall 2 rise 1 on-marked-down shutdown-sessions\n"+
		"  server a "+p.primary+"\n  server b "+p.standby+" backup\n")
	var log bytes.Buffer
	cmd := exec.Command(program, "-db", "-f", file)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
	})
	db := p.database(at, "app")
	f.await("HAProxy", func() bool { return db.Ping() == nil })
	return at
}

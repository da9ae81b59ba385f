package main

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/internal/testservices"
)

// A fault breaks a running server. answer, ready and log match what an agent, a probe and the log get.
type fault struct {
	name               string
	store              func(t testing.TB) string // the store's URL; nil for a file in the folder
	breaks             func(b *box) (mend func())
	answer, ready, log string
	only               string // if not empty, matches each warning and error in the log
}

// The answers of agents.
const (
	answered  = `^200 .*"(?:text|count)"[^}]*2972`
	retryable = `(?s)upstream_error.*the gateway can't keep its records, so it answers no calls.*wait [0-9.]+ s, then make the same call again`
)

func faults() []fault {
	var line *testservices.Line
	return []fault{
		{name: "store removed", breaks: func(b *box) func() { return b.moved("bailiwick.db", "") },
			answer: retryable, ready: `^503 not ready: the store can't be written\n$`, log: `write in bailiwick.db: the file was removed or replaced while it was in use; put it back`},
		{name: "store replaced", breaks: func(b *box) func() { return b.moved("bailiwick.db", "SQLite format 3\x00") },
			answer: retryable, ready: `^503 not ready: the store can't be written\n$`, log: `the file was removed or replaced while it was in use`},
		{name: "store read-only", breaks: (*box).immutable,
			answer: retryable, ready: `^503 not ready: the store can't be written\n$`, log: `append to the audit log in bailiwick.db: operation not permitted`},
		{name: "disk full", store: smallDisk, breaks: (*box).fillDisk,
			answer: retryable, ready: `^503 not ready: the store can't be written\n$`, log: `append to the audit log in \S*bailiwick.db: the disk is full|the disk is full \(SQLite error 13\)`},
		{name: "audit refused", breaks: func(b *box) func() {
			b.sqlite("CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'canary-4711'); END")
			return func() { b.sqlite("DROP TRIGGER no") }
		}, answer: answered, ready: `^503 not ready: the store can't be written\n$`, log: `in \S*bailiwick.db \(SQLite error 19\)`}, // the journal has the records meanwhile
		{name: "source removed", breaks: func(b *box) func() { return b.moved("tracker.db", "") },
			answer: `upstream_error`, ready: `^503 not ready: a source doesn't answer\n$`, log: `"not ready","error":"[^"]*source tracker[^"]*tracker.db: no such file or directory"`},
		{name: "configuration removed", breaks: func(b *box) func() { return b.moved("bailiwick.yaml", "") },
			answer: answered, ready: `^200 ready\nconfig: the changed configuration is refused`, log: `the configuration is refused; what was in force stays.*bailiwick.yaml: no such file`},
		{name: "configuration broken", breaks: func(b *box) func() { return b.moved("bailiwick.yaml", "stroe: x\n") },
			answer: answered, ready: `^200 ready\nconfig: the changed configuration is refused`, log: `the configuration is refused; what was in force stays.*stroe`},
		{name: "secret's file missing", breaks: func(b *box) func() { return b.added("audit: {key: file:nowhere}\n") },
			answer: answered, ready: `^200 ready\nconfig: the changed configuration is refused`, log: `the configuration is refused; what was in force stays.*audit.key`},
		{name: "included file missing", breaks: func(b *box) func() { return b.added("include: [nowhere.yaml]\n") },
			answer: answered, ready: `^200 ready\nconfig: the changed configuration is refused`, log: `the configuration is refused; what was in force stays.*nowhere.yaml`},
		{name: "PostgreSQL gone", store: func(t testing.TB) string {
			line = testservices.Through(t, testservices.Postgres(t))
			return line.URL
		}, breaks: func(*box) func() {
			line.Cut()
			return line.Mend
		}, answer: `^503 .*"message":"The gateway can't reach its records now. Try again in [1-5] seconds"`, ready: `^503 not ready: the store can't be written\n$`, log: `write in PostgreSQL at \S+: the database can't be reached`},
		{name: "PostgreSQL refuses records", store: testservices.Postgres, breaks: func(b *box) func() {
			b.postgres("ALTER TABLE bailiwick.audit ADD CONSTRAINT no CHECK (body <> body) NOT VALID")
			return func() { b.postgres("ALTER TABLE bailiwick.audit DROP CONSTRAINT no") }
		}, answer: retryable, ready: `^503 not ready: the store can't be written\n$`, log: `append to the audit log in PostgreSQL at \S+ \(SQLSTATE 23514\)`},
		{name: "PostgreSQL's disk full", store: testservices.Postgres, breaks: func(b *box) func() {
			b.postgres("CREATE FUNCTION public.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'canary-4711' USING ERRCODE = '53100'; END $$")
			b.postgres("CREATE TRIGGER no BEFORE INSERT ON bailiwick.audit FOR EACH ROW EXECUTE FUNCTION public.no()")
			return func() { b.postgres("DROP TRIGGER no ON bailiwick.audit") }
		}, answer: retryable, ready: `^503 not ready: the store can't be written: the disk is full\n$`, log: `"not ready","error":"[^"]*append to the audit log in PostgreSQL at \S+: the disk is full \(SQLSTATE 53100\)`},
		{name: "PostgreSQL ends its connections", store: testservices.Postgres, breaks: func(b *box) func() {
			b.postgres("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			return func() {}
		}, answer: answered, ready: `^200 ready\n$`, log: `.`,
			only: `the database (?:is being stopped or started|can't be reached)|"msg":"(?:refused|values of some classes could not be looked at|the values of \d+ classes were not looked at in time)`}, // the latter two on a slow machine
	}
}

// TestFaults breaks what a server rests on, and checks what agents, probes and the log get, that it recovers, and that the
// log names no type of an error and no text of a database.
func TestFaults(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			store := "sqlite:bailiwick.db"
			if f.store != nil {
				store = f.store(t)
			}
			b := newBox(t, store)
			b.serve()
			b.until(b.ask, answered)
			b.until(b.ready, `^200 ready\n$`)
			mend := f.breaks(b)
			b.until(b.ask, f.answer)
			b.until(b.ready, f.ready)
			b.until(b.logged, f.log)
			// An id is drawn from all capitals, and may say SQL.
			if got := regexp.MustCompile(`"correlation_id":"[A-Z2-7]+"`).ReplaceAllString(b.ask(), ""); strings.Contains(got, "SQL") || strings.Contains(got, b.dir) || strings.Contains(got, "disk") {
				t.Errorf("an agent gets %s", got)
			}
			mend()
			b.until(b.ready, `^200 ready\n$`)
			b.until(b.ask, answered)
			log := b.logged()
			for _, bad := range []string{"*sqlite.Error", "*errors.", "*fmt.", "canary-4711", "PgError"} {
				if strings.Contains(log, bad) {
					t.Errorf("the log has %s:\n%s", bad, log)
				}
			}
			for line := range strings.Lines(log) {
				if f.only != "" && regexp.MustCompile(`"level":"(?:WARN|ERROR)"`).MatchString(line) && !regexp.MustCompile(f.only).MatchString(line) {
					t.Errorf("the log has %s", line)
				}
			}
			for _, line := range []string{`"not ready"`, `"a change could not be brought to its end`, `"notifications wait"`, `"agents do not hear of their changes now"`} {
				if n := strings.Count(log, line); n > 3 {
					t.Errorf("%d lines say %s:\n%s", n, line, log)
				}
			}
		})
	}
}

// TestStartFaults starts a server with a store or a configuration that can't be used. The operator reads what is wrong, with the
// place, once; over HTTP nothing listens; and an agent over stdio gets an MCP error that holds nothing of it.
func TestStartFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		store  func(t testing.TB) string // the store's URL; nil for a file in the folder
		breaks func(b *box)
		want   string // in the standard error
	}{
		{"store newer", nil, func(b *box) { b.sqlite("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)") }, `open in bailiwick.db: a newer Bailiwick made it`},
		{"store no database", nil, func(b *box) { b.write("bailiwick.db", []byte(strings.Repeat("no database ", 1000))) }, `open in bailiwick.db: the file is no SQLite database`},
		{"store a folder", nil, func(b *box) {
			b.moved("bailiwick.db", "")
			if err := os.Mkdir(filepath.Join(b.dir, "bailiwick.db"), 0o700); err != nil {
				b.t.Fatal(err)
			}
		}, `bailiwick.db`},
		{"store read-only", nil, func(b *box) { b.immutable() }, `bailiwick.db: operation not permitted`},
		{"PostgreSQL gone", testservices.Postgres, func(b *box) {
			text, err := os.ReadFile(filepath.Join(b.dir, "bailiwick.yaml"))
			if err != nil {
				b.t.Fatal(err)
			}
			port := regexp.MustCompile(`(?m)^(store: postgres://[^/]*:)\d+`)
			b.write("bailiwick.yaml", port.ReplaceAll(text, []byte("${1}1")))
		}, `in PostgreSQL at 127.0.0.1:1`},
		{"configuration missing", nil, func(b *box) { b.moved("bailiwick.yaml", "") }, `there is no bailiwick.yaml here`},
		{"configuration broken", nil, func(b *box) { b.moved("bailiwick.yaml", "stroe: x\n") }, `did you mean store?`},
		{"secret's file missing", nil, func(b *box) { b.added("audit: {key: file:nowhere}\n") }, `audit.key`},
		{"included file missing", nil, func(b *box) { b.added("include: [nowhere.yaml]\n") }, `the file nowhere.yaml can't be read: no such file or directory`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := "sqlite:bailiwick.db"
			if tt.store != nil {
				store = tt.store(t)
			}
			b := newBox(t, store)
			b.serve()
			b.stop()
			tt.breaks(b)
			stdout, stderr, err := b.run("serve", "--listen", "127.0.0.1:0")
			if err == nil || strings.Count(stderr, tt.want) != 1 || strings.Contains(stderr, "*") || stdout != "" {
				t.Errorf("over HTTP: %v, %s%s; want %s", err, stdout, stderr, tt.want)
			}
			cmd := b.command("serve", "--stdio", "--tenant", "acme")
			cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}` + "\n")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			const answer = `{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"the gateway did not start; its standard error says why, and \"bailiwick check\" tells more"}}` + "\n"
			if err == nil || string(out) != answer || strings.Count(errs.String(), tt.want) != 1 {
				t.Errorf("over stdio: %v, %s%s; want %s%s", err, out, &errs, answer, tt.want)
			}
		})
	}
	t.Run("store missing", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, "sqlite:bailiwick.db")
		b.serve()
		b.stop()
		b.moved("bailiwick.db", "")
		b.start()
		b.until(b.logged, `"level":"WARN","msg":"the store bailiwick.db is new: it has no tokens, no changes and no audit`)
		b.until(b.ready, `^200 ready\n$`)
		if got := b.ask(); !strings.HasPrefix(got, "401 ") {
			t.Errorf("a token of a store that is gone: %s", got)
		}
	})
}

// moved replaces a file by one with this text, or removes it, and returns what puts it back.
func (b *box) moved(name, text string) func() {
	b.t.Helper()
	at := filepath.Join(b.dir, name)
	if err := os.Rename(at, at+".kept"); err != nil {
		b.t.Fatal(err)
	}
	if text != "" {
		b.write(name, []byte(text))
	}
	return func() {
		if err := os.Rename(at+".kept", at); err != nil {
			b.t.Fatal(err)
		}
	}
}

// immutable makes the files of the store immutable, which ends writes through open files too, and returns what undoes it. The
// shared memory of SQLite stays as it is: the kernel ends a process that writes to a mapped page of an immutable file, once
// that page was written to the disk.
func (b *box) immutable() func() {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.dir, "bailiwick.db*"))
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "-shm") })
	if err != nil || len(files) == 0 {
		b.t.Fatal(files, err)
	}
	set := func(flag string) ([]byte, error) {
		return exec.Command("chattr", append([]string{"-R", flag}, files...)...).CombinedOutput()
	}
	if out, err := set("+i"); err != nil {
		b.t.Skipf("LEFT OUT: files can't be made immutable here: %s", out)
	}
	b.t.Cleanup(func() { set("-i") }) //nolint:errcheck // the folder is temporary
	return func() {
		if out, err := set("-i"); err != nil {
			b.t.Fatalf("%v: %s", err, out)
		}
	}
}

// added adds a line to the configuration, and returns what takes it out.
func (b *box) added(line string) func() {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "bailiwick.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.moved("bailiwick.yaml", string(text)+"\n"+line)
}

// sqlite runs a statement in the store.
func (b *box) sqlite(statement string) {
	b.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(b.dir, "bailiwick.db")+"?_busy_timeout=10000")
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		b.t.Fatal(err)
	}
}

// postgres runs a statement in the store, which is a database of PostgreSQL.
func (b *box) postgres(statement string) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "bailiwick.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	_, url, _ := strings.Cut(string(text), "\nstore: ")
	url, _, _ = strings.Cut(url, " ")
	db, err := sql.Open("pgx", url)
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		b.t.Fatal(err)
	}
}

// smallDisk mounts a small disk and returns the URL of a store on it.
func smallDisk(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("LEFT OUT: no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) }) //nolint:errcheck // the folder is temporary
	return "sqlite:" + dir + "/bailiwick.db"
}

// fillDisk fills the disk of the store, and returns what frees it.
func (b *box) fillDisk() func() {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "bailiwick.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	_, at, _ := strings.Cut(string(text), "\nstore: sqlite:")
	at, _, _ = strings.Cut(at, " ")
	filler := filepath.Join(filepath.Dir(at), "filler")
	f, err := os.Create(filler)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	return func() {
		if err := os.Remove(filler); err != nil {
			b.t.Fatal(err)
		}
	}
}

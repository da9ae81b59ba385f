package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// A fault breaks a running server. It is a row of the runbook in docs/operating.md, see TestRunbook. answer, ready
// and log are the expected texts for an agent, a probe and the log, as written in the runbook. Texts between
// backquotes must occur in this order, and … matches any text. Faults with the same texts are one row of the runbook.
type fault struct {
	name, what         string
	store              func(t testing.TB) string // returns the store's URL. Nil means a file in the folder
	breaks             func(b *box) (mend func())
	ask                func(b *box) string // nil means (*box).ask
	answer, ready, log string
	do                 string // the steps for an operator
	also               string // the log must also match this pattern
	only               string // if not empty, every warning and error in the log must match this pattern
}

// answered matches the answer to the question of a box.
const answered = `^200 .*"(?:text|count)"[^}]*2972`

// The expected answers for agents and probes.
const (
	answers   = "answers"
	retryable = "`upstream_error`, `the gateway can't keep its records, so it answers no calls`, `wait … s, then make the same call again`"
	unwritten = "503 `not ready: the store can't be written`"
	stays     = "200 `ready` and `config: the changed configuration is refused`"
)

// Descriptions of a rejected configuration, and of a PostgreSQL store that can't store records.
const (
	unread = "The configuration is removed or broken, or a file that it includes or takes a secret from"
	takes  = "PostgreSQL with the store takes no records: "
)

func faults() []fault {
	var line *services.Line
	config := func(name, also string, breaks func(b *box) func()) fault {
		return fault{name: name, what: unread, breaks: breaks, answer: answers, ready: stays, log: "`the configuration is refused. The rules in force stay`", also: also,
			do: "Run `bailiwick check`. The rules that were in force stay in force."}
	}
	breaking := func(code string) func(b *box) func() {
		return func(b *box) func() {
			b.postgres("CREATE FUNCTION public.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'canary-4711' USING ERRCODE = '" + code + "'; END $$")
			b.postgres("CREATE TRIGGER no BEFORE INSERT ON bailiwick.audit FOR EACH ROW EXECUTE FUNCTION public.no()")
			return func() { b.postgres("DROP TRIGGER no ON bailiwick.audit") }
		}
	}
	return []fault{
		{name: "store removed", what: "The store's file is removed", breaks: func(b *box) func() { return b.moved("bailiwick.db", "") },
			answer: retryable, ready: unwritten, log: "`the file was removed or replaced while it was in use. Put it back`",
			do: "Put the file back. If it is lost, stop the server and run `bailiwick store restore`."},
		{name: "store replaced", what: "The store's file is replaced", breaks: func(b *box) func() { return b.moved("bailiwick.db", "SQLite format 3\x00") },
			answer: retryable, ready: unwritten, log: "`the file was removed or replaced while it was in use`", do: "Put the former file back, or restart the server with the new one."},
		{name: "store read-only", what: "The file system of the store takes no writes", breaks: (*box).immutable, answer: retryable, ready: unwritten,
			log: "`append to the audit log in bailiwick.db: operation not permitted`", do: "Mount it for writing. Where the kernel ends the process with `SIGBUS`, its supervisor starts it again."},
		{name: "disk full", what: "The disk of the store is full", store: smallDisk, breaks: (*box).fillDisk, answer: retryable, ready: unwritten, log: "`the disk is full`",
			do: "Free space. No call was answered that is not recorded."},
		{name: "audit refused", what: "The store's file refuses records", breaks: func(b *box) func() {
			b.sqlite("CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'canary-4711'); END")
			return func() { b.sqlite("DROP TRIGGER no") }
		}, answer: "answers, while the journal has room", ready: unwritten, log: "`in …bailiwick.db (SQLite error …)`", do: "Look up the code. `bailiwick store check` tells whether the file is whole."},
		{name: "source removed", what: "A source is gone", breaks: func(b *box) func() { return b.moved("tracker.db", "") },
			answer: "`upstream_error` where it is read", ready: "503 `not ready: a source doesn't answer`", log: "`not ready`, `source tracker…no such file or directory`",
			do: "Bring it back. Calls of other sources are answered."},
		config("configuration removed", `bailiwick.yaml: no such file`, func(b *box) func() { return b.moved("bailiwick.yaml", "") }),
		config("configuration broken", `stroe`, func(b *box) func() { return b.moved("bailiwick.yaml", "stroe: x\n") }),
		config("secret's file missing", `audit.key`, func(b *box) func() { return b.added("audit: {key: file:nowhere}\n") }),
		config("included file missing", `nowhere.yaml`, func(b *box) func() { return b.added("include: [nowhere.yaml]\n") }),
		{name: "PostgreSQL gone", what: "PostgreSQL with the store is gone", store: func(t testing.TB) string {
			line = services.Through(t, services.Postgres(t))
			return line.URL
		}, breaks: func(*box) func() {
			line.Cut()
			return line.Mend
		}, answer: "503 with `Retry-After` and `The gateway can't reach its records now. Try again in … seconds`", ready: unwritten, log: "`in PostgreSQL at …: the database can't be reached`",
			do: "Bring it back. The gateway connects again by itself."},
		{name: "PostgreSQL refuses records", what: takes + "a constraint or a trigger refuses them", store: services.Postgres, breaks: func(b *box) func() {
			b.postgres("ALTER TABLE bailiwick.audit ADD CONSTRAINT no CHECK (body <> body) NOT VALID")
			return func() { b.postgres("ALTER TABLE bailiwick.audit DROP CONSTRAINT no") }
		}, answer: retryable, ready: unwritten, log: "`append to the audit log in PostgreSQL at …(SQLSTATE …)`", do: "Look up the SQLSTATE."},
		{name: "PostgreSQL's disk full", what: takes + "its disk is full", store: services.Postgres, breaks: breaking("53100"), answer: retryable,
			ready: "503 `not ready: the store can't be written: the disk is full`", log: "`append to the audit log in PostgreSQL at …: the disk is full (SQLSTATE 53100)`", do: "Free space there."},
		{name: "PostgreSQL lacks a right", what: takes + "a right is missing", store: services.Postgres, breaks: breaking("42501"), answer: retryable,
			ready: "503 `not ready: the store can't be written: a right is missing`", log: "`append to the audit log in PostgreSQL at …`, `(SQLSTATE 42501)`",
			do: "Make the gateway's account the owner of the schema `bailiwick` and what is in it."},
		{name: "PostgreSQL's table locked", what: takes + "a table is locked", store: services.Postgres, breaks: (*box).locked, answer: retryable,
			ready: "503 `not ready: the store can't be written: a table is locked`", log: "`PostgreSQL at …`, `another session has locked a table`", do: "Find the session in `pg_locks`, and end it."},
		{name: "PostgreSQL ends its connections", what: "PostgreSQL ends connections", store: services.Postgres, breaks: func(b *box) func() {
			b.postgres("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			return func() {}
		}, answer: answers, ready: "200 `ready`", log: "nothing, or a refused call while it connects again", do: "Nothing.",
			only: `the database (?:is being stopped or started|can't be reached)|"msg":"(?:refused|values of some classes could not be looked at|the values of \d+ classes were not looked at in time)`}, // the latter two occur on a slow machine
		{name: "archive full", what: "The disk of `audit.archive` is full", store: agedStore, breaks: (*box).fullArchive, answer: answers, ready: "200 `ready`",
			log: "`old records of the audit can't be archived. They stay in the store`, `no space left on device`", do: "Free space. The server tries again each hour, and at its start. No record is lost."},
		{name: "foreign host", what: "Requests name a foreign `Host` or `Origin`", breaks: func(*box) func() { return func() {} }, ask: (*box).askForeign, answer: "`403`", ready: "200 `ready`",
			log: "`server.hosts`", do: "If the name is yours, add it to `server.hosts` or `server.origins`."},
	}
}

// segments matches texts between backquotes.
var segments = regexp.MustCompile("`([^`]*)`")

// inWords returns a pattern for the texts between the backquotes of text. The text is written for the runbook.
func inWords(text string) string {
	var parts []string
	for _, m := range segments.FindAllStringSubmatch(text, -1) {
		parts = append(parts, strings.ReplaceAll(regexp.QuoteMeta(m[1]), "…", ".*"))
	}
	return strings.Join(parts, ".*")
}

// agents returns a pattern for the answer to agents.
func (f fault) agents() string {
	if strings.HasPrefix(f.answer, answers) {
		return answered
	}
	return "(?s)" + inWords(strings.ReplaceAll(f.answer, "`Retry-After`", ""))
}

// probe returns a pattern for the answer of /readyz. If the runbook has one text, the pattern matches the whole
// answer.
func (f fault) probe() string {
	status, text, _ := strings.Cut(f.ready, " ")
	if strings.Count(text, "`") == 2 {
		return "^" + status + " " + inWords(text) + "\n$"
	}
	return "(?s)^" + status + " " + inWords(text)
}

// TestFaults breaks each service that a server depends on and checks what agents, probes and the log receive. The
// server must recover. The log must not contain the Go type of an error or a text of a database.
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
			well := fault{answer: answers, ready: "200 `ready`"}
			b.until(b.ask, well.agents())
			b.until(b.ready, well.probe())
			mend := f.breaks(b)
			ask := b.ask
			if f.ask != nil {
				ask = func() string { return f.ask(b) }
			}
			b.until(ask, f.agents())
			b.until(b.ready, f.probe())
			b.until(b.logged, inWords(f.log))
			b.until(b.logged, f.also)
			// A correlation id consists of random capitals and may contain "SQL".
			if got := regexp.MustCompile(`"correlation_id":"[A-Z2-7]+"`).ReplaceAllString(b.ask(), ""); strings.Contains(got, "SQL") || strings.Contains(got, b.dir) || strings.Contains(got, "disk") {
				t.Errorf("an agent gets %s", got)
			}
			mend()
			b.until(b.ready, well.probe())
			b.until(b.ask, well.agents())
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

// A startFault makes a server fail to start. It is a row of the runbook unless its field what is "".
type startFault struct {
	name, what, do string
	store          func(t testing.TB) string // returns the store's URL. Nil means a file in the folder
	breaks         func(b *box)
	want           string // expected in the standard error
}

func startFaults() []startFault {
	return []startFault{
		{"store newer", "The store was made by a newer version", "Run the newer program, or restore the copy beside the store that its version names.", nil, func(b *box) { b.sqlite("INSERT INTO migration VALUES (9999, 0)") }, `open in bailiwick.db: a newer Bailiwick made it`},
		{"store no database", "The store's file is no database", "Restore a backup: `bailiwick store restore`.", nil, func(b *box) { b.write("bailiwick.db", []byte(strings.Repeat("no database ", 1000))) }, `open in bailiwick.db: the file is no SQLite database`},
		{"store a folder", "", "", nil, func(b *box) {
			b.moved("bailiwick.db", "")
			if err := os.Mkdir(filepath.Join(b.dir, "bailiwick.db"), 0o700); err != nil {
				b.t.Fatal(err)
			}
		}, `bailiwick.db`},
		{"store read-only", "", "", nil, func(b *box) { b.immutable() }, `bailiwick.db: operation not permitted`},
		{"PostgreSQL gone", "PostgreSQL with the store can't be reached at the start", "Bring it back, and start the server again.", services.Postgres, func(b *box) {
			text, err := os.ReadFile(filepath.Join(b.dir, "bailiwick.yaml"))
			if err != nil {
				b.t.Fatal(err)
			}
			port := regexp.MustCompile(`(?m)^(store: postgres://[^/]*:)\d+`)
			b.write("bailiwick.yaml", port.ReplaceAll(text, []byte("${1}1")))
		}, `in PostgreSQL at 127.0.0.1:1`},
		{"configuration missing", "", "", nil, func(b *box) { b.moved("bailiwick.yaml", "") }, `there is no bailiwick.yaml here`},
		{"configuration broken", "", "", nil, func(b *box) { b.moved("bailiwick.yaml", "stroe: x\n") }, `Did you mean store?`},
		{"secret's file missing", "", "", nil, func(b *box) { b.added("audit: {key: file:nowhere}\n") }, `audit.key`},
		{"included file missing", "", "", nil, func(b *box) { b.added("include: [nowhere.yaml]\n") }, `the file nowhere.yaml can't be read: no such file or directory`},
	}
}

// TestStartFaults starts a server with an unusable store or configuration. The operator must read the fault and its
// place once. Over HTTP, the server must not listen. Over stdio, an agent must receive an MCP error without details
// of the fault.
func TestStartFaults(t *testing.T) {
	for _, tt := range startFaults() {
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

// moved replaces a file by one with this text, or removes it if text is "". It returns a function that restores the
// file.
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

// immutable makes the files of the store immutable, which also ends writes through open files. It returns a function
// that undoes this. The shared memory of SQLite stays mutable. The kernel would end a process that writes to a mapped
// page of an immutable file after that page was written to the disk.
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

// added adds a line to the configuration. It returns a function that removes the line.
func (b *box) added(line string) func() {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "bailiwick.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.moved("bailiwick.yaml", string(text)+"\n"+line)
}

// sqlite runs a statement in the SQLite store.
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

// postgres runs a statement in the PostgreSQL store.
func (b *box) postgres(statement string) {
	b.t.Helper()
	db, err := sql.Open("pgx", b.storeURL())
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		b.t.Fatal(err)
	}
}

// storeURL returns the URL of the PostgreSQL store.
func (b *box) storeURL() string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "bailiwick.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	_, url, _ := strings.Cut(string(text), "\nstore: ")
	url, _, _ = strings.Cut(url, " ")
	return url
}

// locked locks the audit table and returns a function that unlocks it.
func (b *box) locked() func() {
	b.t.Helper()
	db, err := sql.Open("pgx", b.storeURL())
	if err != nil {
		b.t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := tx.Exec("LOCK TABLE bailiwick.audit IN ACCESS EXCLUSIVE MODE"); err != nil {
		b.t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			b.t.Fatal(err)
		}
	}
}

// askForeign is like ask with another host name in the request.
func (b *box) askForeign() string {
	b.t.Helper()
	r := b.question()
	r.Host = "elsewhere.example"
	return b.answer(http.DefaultClient.Do(r))
}

// smallDisk mounts a small disk and returns the URL for a store on it.
func smallDisk(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	mount(t, dir, "size=4m")
	return "sqlite:" + dir + "/bailiwick.db"
}

// mount mounts a disk of this size at dir.
func mount(t testing.TB, dir, size string) {
	t.Helper()
	if err := syscall.Mount("none", dir, "tmpfs", 0, size); err != nil {
		t.Skipf("LEFT OUT: no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) }) //nolint:errcheck // the folder is temporary
}

// agedStore returns the URL of a store whose first records are three days old.
func agedStore(t testing.TB) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "bailiwick.db")
	s, err := sqlite.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for range aged {
		if err := s.Append(t.Context(), &audit.Record{Time: time.Now().Add(-72 * time.Hour), Principal: "token:1", Tool: "count_objects", Outcome: audit.OK}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + at
}

// aged is the number of records in a new agedStore.
const aged = 5

// fullArchive restarts the server with an archive on a full disk. It returns a function that frees the disk. That
// function also checks that the archive then contains the records and that the whole audit verifies.
func (b *box) fullArchive() func() {
	b.t.Helper()
	folder := filepath.Join(b.dir, "audit-archive")
	if err := os.Mkdir(folder, 0o700); err != nil {
		b.t.Fatal(err)
	}
	mount(b.t, folder, "size=64k")
	free := b.fill(folder)
	b.stop()
	b.added("audit: {archive: {folder: audit-archive, after: 1d}}\n")
	b.start()
	return func() {
		b.t.Helper()
		if left, err := filepath.Glob(filepath.Join(folder, "*.jsonl")); err != nil || len(left) > 0 {
			b.t.Errorf("a full archive holds %v: %v", left, err)
		}
		free()
		b.stop()
		b.start()
		b.until(b.logged, fmt.Sprintf(`"msg":"old records of the audit are in the archive","records":%d,"files":1`, aged))
		name := filepath.Join(folder, fmt.Sprintf("audit-%012d-%012d.jsonl", 1, aged))
		if text, err := os.ReadFile(name); err != nil || bytes.Count(text, []byte("\n")) != aged {
			b.t.Errorf("the archive has %s: %v", text, err)
		}
		if out, errs, err := b.run("audit", "verify"); err != nil {
			b.t.Errorf("the audit doesn't verify: %s%s%v", out, errs, err)
		}
	}
}

// fillDisk fills the disk of the store and returns a function that frees it.
func (b *box) fillDisk() func() {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "bailiwick.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	_, at, _ := strings.Cut(string(text), "\nstore: sqlite:")
	at, _, _ = strings.Cut(at, " ")
	return b.fill(filepath.Dir(at))
}

// fill fills the disk of a folder and returns a function that frees it.
func (b *box) fill(dir string) func() {
	b.t.Helper()
	filler := filepath.Join(dir, "filler")
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

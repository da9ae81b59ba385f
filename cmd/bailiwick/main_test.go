package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bailiwick": main})
}

// TestScripts runs the command-line scripts with real processes, files and connections.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	runScripts(t, scriptsIn(t, "testdata/script"), func(env *testscript.Env) error {
		env.Setenv("EXAMPLES", examples)
		return nil
	})
}

// runScripts runs the scripts in files after setup. BAILIWICK_PLAIN is a folder with the program built without the race
// detector. With the detector a command takes three times the processor time, mostly at its start. Commands therefore
// run the plain program. Servers that start and follow run have the detector. So have all processes of a script in
// which a command serves, talks to a model, or runs in parallel with the script.
func runScripts(t *testing.T, files []string, setup func(*testscript.Env) error) {
	plain := os.Getenv("BAILIWICK_PLAIN")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ahead := ""
		if plain != "" && !several.Match(text) {
			ahead = plain + string(filepath.ListSeparator)
		}
		testscript.Run(t, testscript.Params{Files: []string{file}, Cmds: commands, RequireExplicitExec: true, RequireUniqueNames: true,
			Setup: func(env *testscript.Env) error {
				env.Setenv("GORACE", os.Getenv("GORACE"))
				env.Setenv("PATH", ahead+env.Getenv("PATH"))
				return setup(env)
			}})
	}
}

// several matches scripts in which a command serves, talks to a model, or runs in parallel with the script.
var several = regexp.MustCompile(`(?m)^(!|exec|code|until) .*bailiwick (serve|demo|ask|chat)\b|&$`)

// scriptsIn returns the scripts in a folder.
func scriptsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || files == nil {
		t.Fatal(files, err)
	}
	return files
}

// TestPostgres runs the scripts that require PostgreSQL. $PG is the URL of an empty database behind a gate that can
// be shut.
func TestPostgres(t *testing.T) {
	database := services.Postgres(t)
	runScripts(t, scriptsIn(t, "testdata/postgres"), func(env *testscript.Env) error {
		u, err := url.Parse(database)
		if err != nil {
			return err
		}
		g, err := newGate(u.Host)
		if err != nil {
			return err
		}
		env.Defer(g.shut)
		env.Values["gate"] = g
		u.Host = g.addr
		password, _ := u.User.Password()
		env.Setenv("DIRECT", database)
		env.Setenv("PG", u.String())
		env.Setenv("PASSWORD", password)
		return nil
	})
}

// TestMariaDB runs the scripts that require MariaDB. $DIRECT is the URL of an empty database.
func TestMariaDB(t *testing.T) {
	database := services.MariaDB(t)
	runScripts(t, scriptsIn(t, "testdata/mariadb"), func(env *testscript.Env) error {
		u, err := url.Parse(database)
		if err != nil {
			return err
		}
		password, _ := u.User.Password()
		env.Setenv("DIRECT", database)
		env.Setenv("PASSWORD", password)
		return nil
	})
}

var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"tracker": tracker,
	"model":   model,
	"edit":    edit,
	"api":     serveAPI,
	"sql":     runSQL,
	"psql":    postgres,
	"maria":   mariaDB,
	"code":    code,
	"let":     let,
	"start":   start,
	"end":     end,
	"signal":  send,
	"gate":    gate,
	"until":   until,
	"id":      firstID,
	"watch":   watch,
	"follow":  follow,
	"occupy":  occupy,
	"ready":   readyz,
	"front":   front,
	"parse":   parseRequest,
	"insert":  insert,
	"drop":    drop,
}

// oneTracker returns the demo's database, which is created once for all scripts.
var oneTracker = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "bailiwick-script-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tracker.db")
	if err := demo.Create(context.Background(), path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// tracker writes tracker.db and bailiwick.yaml. "tracker bare" leaves out the declared queries and metrics, for scripts that
// declare others or hide what these name.
func tracker(ts *testscript.TestScript, _ bool, args []string) {
	data, err := oneTracker()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("tracker.db"), data, 0o600))
	text := demo.Config
	if slices.Equal(args, []string{"bare"}) {
		before, rest, _ := strings.Cut(text, "\nqueries:")
		_, after, _ := strings.Cut(rest, "\nactions:")
		text = before + "\nactions:" + after
	}
	ts.Check(os.WriteFile(ts.MkAbs("bailiwick.yaml"), []byte(text), 0o600))
}

// runSQL FILE STATEMENTS runs statements like sqlite3. After <, it reads the statements from a file.
func runSQL(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	text := strings.Join(args[1:], " ")
	if args[1] == "<" {
		text = ts.ReadFile(args[2])
	}
	_, err = db.Exec(text)
	ts.Check(err)
}

// postgres URL STATEMENTS runs statements.
func postgres(ts *testscript.TestScript, _ bool, args []string) {
	conn, err := pgx.Connect(context.Background(), args[0])
	ts.Check(err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), strings.Join(args[1:], " "))
	ts.Check(err)
}

// mariaDB URL STATEMENT runs a statement.
func mariaDB(ts *testscript.TestScript, _ bool, args []string) {
	u, err := url.Parse(args[0])
	ts.Check(err)
	password, _ := u.User.Password()
	db, err := sql.Open("mysql", u.User.Username()+":"+password+"@tcp("+u.Host+")"+u.Path)
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(strings.Join(args[1:], " "))
	ts.Check(err)
}

// code N COMMAND… runs a command that must end with the exit code N.
func code(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// let NAME sets a variable to the standard output of the last command.
func let(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// firstID NAME sets a variable to the first id or change_id in the JSON output of the last command.
func firstID(ts *testscript.TestScript, _ bool, args []string) {
	m := regexp.MustCompile(`"(?:change_)?id":"([^"]+)"`).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no id was written")
	}
	ts.Setenv(args[0], m[1])
}

// A process runs in the background of a script.
type process struct {
	*exec.Cmd
	ended chan error
}

// start NAME COMMAND… starts a server, waits until it listens, and sets $NAME to its URL. Its output is written to
// NAME.out and NAME.err.
func start(ts *testscript.TestScript, _ bool, args []string) {
	name := args[0]
	path, err := exec.LookPath(args[1])
	if err != nil {
		for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
			if _, err := os.Stat(filepath.Join(dir, args[1])); err == nil {
				path = filepath.Join(dir, args[1])
			}
		}
	}
	p := &process{exec.Command(path, args[2:]...), make(chan error, 1)}
	p.Dir = ts.MkAbs(".")
	for _, v := range []string{"PATH", "GORACE", "HOME", "TMPDIR", "PGPASSWORD", "MYSQL_PWD", "BAILIWICK_WRITES", "API", "API_KEY", "MONGODB", "PARSE_APP_ID", "PARSE_MASTER_KEY", "PARSE_REST_KEY", "PARSE_URL"} {
		p.Env = append(p.Env, v+"="+ts.Getenv(v))
	}
	stderr, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer stderr.Close()
	p.Stderr = stderr
	stdout, err := p.StdoutPipe()
	ts.Check(err)
	ts.Check(p.Start())
	listening := make(chan string, 1)
	go func() {
		out, _ := os.Create(ts.MkAbs(name + ".out"))
		lines := bufio.NewScanner(io.TeeReader(stdout, out))
		for lines.Scan() {
			if url := said.FindStringSubmatch(lines.Text()); url != nil {
				listening <- url[1]
			}
		}
		out.Close()
		close(listening)
		p.ended <- p.Wait()
	}()
	ts.Defer(func() { p.Process.Kill() })
	running.Store(ts.Name()+" "+name, p)
	select {
	case url, ok := <-listening:
		if !ok {
			<-p.ended
			ts.Fatalf("%s ended: %s", name, ts.ReadFile(name+".err"))
		}
		ts.Setenv(name, url)
	case <-time.After(60 * time.Second):
		ts.Fatalf("%s doesn't listen: %s", name, ts.ReadFile(name+".err"))
	}
}

// said matches the line with the URL of a listening server.
var said = regexp.MustCompile(`^(?:listening on |\{"listening":")(http://[0-9.:]+/mcp)`)

// running contains the processes, by script and name.
var running sync.Map

func processOf(ts *testscript.TestScript, name string) *process {
	p, ok := running.Load(ts.Name() + " " + name)
	if !ok {
		ts.Fatalf("%s was not started", name)
	}
	return p.(*process)
}

// send NAME SIGNAL sends a signal to a process.
func send(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(processOf(ts, args[0]).Process.Signal(signals[args[1]]))
}

// end NAME [SIGNAL] stops a server. Its exit code must be 0.
func end(ts *testscript.TestScript, _ bool, args []string) {
	p, s := processOf(ts, args[0]), "INT" // with TERM, the server would drain first
	if len(args) > 1 {
		s = args[1]
	}
	ts.Check(p.Process.Signal(signals[s]))
	select {
	case err := <-p.ended:
		if err != nil {
			ts.Fatalf("%s: %v\n%s", args[0], err, ts.ReadFile(args[0]+".err"))
		}
	case <-time.After(60 * time.Second):
		ts.Fatalf("%s does not end", args[0])
	}
}

// until COMMAND… repeats a command until it succeeds, for at most a minute.
func until(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if (err == nil) != neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("still so after a minute: %v", err)
		}
	}
}

// readyz NAME TEXT… checks that a server is ready and that its response consists of exactly these lines.
func readyz(ts *testscript.TestScript, _ bool, args []string) {
	res, err := http.Get(strings.TrimSuffix(ts.Getenv(args[0]), "/mcp") + "/readyz")
	ts.Check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	if want := strings.Join(args[1:], "\n") + "\n"; string(body) != want || res.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %q, want %q", res.Status, body, want)
	}
}

// occupy ADDR listens at an address while the script runs, unless the address is already in use.
func occupy(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return
	}
	ts.Setenv("taken", l.Addr().String())
	ts.Defer(func() { l.Close() })
}

// A tcpGate forwards connections to a server while it is open.
type tcpGate struct {
	addr, target string

	mu       sync.Mutex
	listener net.Listener
	passing  []net.Conn
}

func newGate(target string) (*tcpGate, error) {
	g := &tcpGate{target: target, addr: "127.0.0.1:0"}
	return g, g.open()
}

func (g *tcpGate) open() error {
	l, err := net.Listen("tcp", g.addr)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.listener, g.addr = l, l.Addr().String()
	g.mu.Unlock()
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", g.target)
			if err != nil {
				in.Close()
				continue
			}
			g.mu.Lock()
			g.passing = append(g.passing, in, out)
			g.mu.Unlock()
			go func() { io.Copy(out, in); out.Close() }()
			go func() { io.Copy(in, out); in.Close() }()
		}
	}()
	return nil
}

func (g *tcpGate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener.Close()
	for _, c := range g.passing {
		c.Close()
	}
	g.passing = nil
}

// gate open|shut opens or shuts the connection to PostgreSQL.
func gate(ts *testscript.TestScript, _ bool, args []string) {
	g := ts.Value("gate").(*tcpGate)
	if args[0] == "shut" {
		g.shut()
		return
	}
	ts.Check(g.open())
}

var signals = map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM}

package attack_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/test/attack"
)

// fewest is the least number of attacks that the suite makes.
const fewest = 550

// TestAttacks makes every attack on the program itself, with a configuration of the kind that docs describe. It makes
// all attacks over HTTP, and those that don't need HTTP once more over standard input and output.
func TestAttacks(t *testing.T) {
	dir := t.TempDir()
	program, world, config := filepath.Join(dir, "bailiwick"), filepath.Join(dir, "world.db"), filepath.Join(dir, "bailiwick.yaml")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/bailiwick").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	db, err := sql.Open("sqlite", world)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(attack.World()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(attack.Config(world, filepath.Join(dir, "state.db"))), 0o600); err != nil {
		t.Fatal(err)
	}
	state := func() (string, error) { return digest(db) }
	url, token := serve(t, program, config)
	web, err := attack.Dial(t.Context(), url+"/mcp", token)
	if err != nil {
		t.Fatal(err)
	}
	target := attack.Target{Server: web, Web: url, Token: token, SQLTool: "query_sql", SQLName: "sql", State: state}
	cases := attack.Cases()
	if len(cases) < fewest {
		t.Errorf("%d attacks, want at least %d", len(cases), fewest)
	}
	judge(t, target, cases, true)

	stdio, err := attack.Start(t.Context(), []string{program, "serve", "--config", config, "--stdio", "--tenant", "acme", "--scopes", "read,write", "--owner", "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer stdio.Close()
	target.Server, target.Web = stdio, ""
	judge(t, target, cases, false)
}

// judge fails for each attack that a server fell for, and for each that doesn't apply, unless it isn't reached over HTTP.
func judge(t *testing.T, target attack.Target, cases []attack.Case, web bool) {
	t.Helper()
	all, err := attack.Run(t.Context(), target, cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Outcome == attack.Fell || r.Outcome == attack.None && (web || r.HTTP == nil) {
			t.Errorf("%s: %s\n%s: %s", r.Section, r.Name, r.Outcome, r.Why)
		}
	}
	t.Logf("\n%s", attack.Table(all))
}

// TestJudged checks that the suite notices a server which shows what it must not, in several ways.
func TestJudged(t *testing.T) {
	for name, tt := range map[string]struct {
		said string
		want attack.Outcome
	}{
		"a value":             {`{"text":"cnry-memo-8841"}`, attack.Fell},
		"a value, escaped":    {`{"text":"\u0063nry-memo-8841"}`, attack.Fell},
		"a value in hex":      {`{"text":"` + hex.EncodeToString([]byte("cnry-vault-1177")) + `"}`, attack.Fell},
		"a value, backwards":  {`{"text":"1488-omem-yrnc"}`, attack.Fell},
		"a name":              {`{"text":"did you mean vault_xq?"}`, attack.Fell},
		"a trace":             {`panic: runtime error`, attack.Fell},
		"what may be seen":    {`{"text":"Printer on fire"}`, attack.Held},
		"the name in a query": {`{"text":"there is no memo_xq"}`, attack.Held},
	} {
		all, err := attack.Run(t.Context(), attack.Target{Server: parrot(tt.said), SQLTool: "sql", SQLName: "sql"}, []attack.Case{{Section: "s", Name: name, SQL: "SELECT memo_xq FROM tickets"}})
		if err != nil || all[0].Outcome != tt.want {
			t.Errorf("%s: %v, %v, want %s", name, all, err, tt.want)
		}
	}
	n := 0
	moved := func() (string, error) { n++; return fmt.Sprint(n), nil }
	all, err := attack.Run(t.Context(), attack.Target{Server: parrot("{}"), SQLTool: "sql", SQLName: "sql", State: moved}, []attack.Case{{SQL: "DELETE FROM tickets"}})
	if err != nil || all[0].Outcome != attack.Fell {
		t.Errorf("a write: %v, %v", all, err)
	}
	// Where nobody sees what is written, nothing is said of it.
	all, err = attack.Run(t.Context(), attack.Target{Server: parrot("{}"), SQLTool: "sql", SQLName: "sql"}, []attack.Case{{Section: "writes in SQL", SQL: "DELETE FROM tickets"}})
	if err != nil || all[0].Outcome != attack.None {
		t.Errorf("a write that can't be seen: %v, %v", all, err)
	}
}

// A parrot is a server that always says the same, and lists a tool.
type parrot string

func (p parrot) Send(_ context.Context, message string) (string, error) {
	if strings.Contains(message, "tools/list") {
		return `{"tools":[{"name":"sql"}]}`, nil
	}
	if strings.Contains(message, "WHERE id = 1") {
		return "Printer on fire", nil
	}
	return string(p), nil
}

var listening = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)

// serve starts the program and returns its address and an agent's token.
func serve(t *testing.T, program, config string) (url, token string) {
	t.Helper()
	out, err := exec.Command(program, "token", "create", "--config", config, "--name", "attacker", "--owner", "ann", "--tenant", "acme", "--scopes", "read,write,delete,schema,explain").CombinedOutput()
	if token = regexp.MustCompile(`bw_[A-Za-z0-9_-]+`).FindString(string(out)); err != nil || token == "" {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "serve", "--config", config, "--listen", "127.0.0.1:0")
	said, err := cmd.StdoutPipe()
	cmd.Stderr = cmd.Stdout
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() }) // it was killed
	found := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if at := listening.FindString(lines.Text()); at != "" {
				select {
				case found <- at:
				default:
				}
			}
		}
	}()
	select {
	case url = <-found:
	case <-time.After(time.Minute):
		t.Fatal("the server doesn't say where it listens")
	}
	return url, token
}

// digest returns a digest of all records and definitions.
func digest(db *sql.DB) (string, error) {
	sum := sha256.New()
	for _, query := range []string{"SELECT * FROM sqlite_schema ORDER BY name", "SELECT * FROM staff ORDER BY id", "SELECT * FROM tickets ORDER BY id", "SELECT * FROM comments ORDER BY id", "SELECT * FROM vault_xq ORDER BY id"} {
		rows, err := db.Query(query)
		if err != nil {
			return "", err
		}
		names, err := rows.Columns()
		for err == nil && rows.Next() {
			values, into := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			err = rows.Scan(into...)
			fmt.Fprintln(sum, values)
		}
		if err == nil {
			err = rows.Err()
		}
		rows.Close() //nolint:errcheck // its error is that of Err
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

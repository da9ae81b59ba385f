package mariadb_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ownServer starts a separate server for a test, with an administrator and a table. It returns the part of its URLs
// after the user.
func ownServer(t *testing.T, options ...string) (at string, admin *sql.DB) {
	t.Helper()
	var programs []string
	for _, name := range []string{"mariadb-install-db", "mariadbd"} {
		path, err := exec.LookPath(name)
		if err != nil {
			path, err = exec.LookPath("/usr/sbin/" + name)
		}
		if err != nil {
			t.Skipf("LEFT OUT: a MariaDB with few connections: there is no %s", name)
		}
		programs = append(programs, path)
	}
	dir, err := os.MkdirTemp("", "full") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	common := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "db"), "--skip-name-resolve", "--innodb-log-file-size=8M"}
	if os.Getuid() == 0 {
		common = append(common, "--user=root")
	}
	if out, err := exec.Command(programs[0], append(common, "--skip-test-db", "--auth-root-authentication-method=normal")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	_, port, _ := net.SplitHostPort(address)
	init := filepath.Join(dir, "init.sql")
	if err := os.WriteFile(init, []byte("CREATE USER boss@'127.0.0.1';\nGRANT ALL ON *.* TO boss@'127.0.0.1' WITH GRANT OPTION;"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(programs[1], append(append(common, "--port="+port, "--bind-address=127.0.0.1", "--socket="+filepath.Join(dir, "s"), "--pid-file="+filepath.Join(dir, "pid"),
		"--init-file="+init, "--skip-log-bin", "--innodb-buffer-pool-size=32M", "--innodb-flush-method=nosync", "--performance-schema=0"), options...)...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	at = "@" + address + "/desk"
	if admin, err = sql.Open("mysql", "boss@tcp("+address+")/"); err != nil {
		t.Fatal(err)
	}
	admin.SetMaxOpenConns(1)
	t.Cleanup(func() { admin.Close() })
	for begun := time.Now(); admin.PingContext(t.Context()) != nil; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the server doesn't start")
		}
	}
	return at, admin
}

// TestMariadbFull has others use all connections that the server, an account or a user may have. Calls wait for a
// connection, and then fail because the source is busy.
func TestMariadbFull(t *testing.T) {
	at, admin := ownServer(t, "--max-connections=12", "--max-user-connections=8")
	for _, s := range []string{`CREATE DATABASE desk`, `CREATE TABLE desk.a (id int PRIMARY KEY)`, `INSERT INTO desk.a VALUES (1)`,
		`CREATE USER one@'127.0.0.1' WITH MAX_USER_CONNECTIONS 4`, `CREATE USER two@'127.0.0.1'`, `CREATE USER three@'127.0.0.1'`,
		`GRANT ALL ON desk.* TO one@'127.0.0.1', two@'127.0.0.1', three@'127.0.0.1'`} {
		if _, err := admin.Exec(s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
	for _, tt := range []struct{ name, user, others, number string }{
		{"of the account", "one", "one", "1226"}, {"of each user", "two", "two", "1203"}, {"of the server", "three", "one two three", "1040"},
	} {
		t.Run(tt.name, func(t *testing.T) { full(t, tt.user+at, tt.others, tt.number, admin) })
	}
}

// full uses all connections of the users in others, and checks the source in the database at the URL at.
func full(t *testing.T, at, others, number string, admin *sql.DB) {
	src, err := mariadb.Open(t.Context(), "app", "mariadb://"+at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	writer, err := src.Writable(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "a", Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	read := func(limit time.Duration) ([]value.Row, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return sourcetest.Collect(ctx, src, permit)
	}
	release := occupy(t, at, others, admin)
	_, err = read(300 * time.Millisecond)
	busy(t, "a read", err, number)
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	busy(t, "Ping", src.Ping(short), number)
	brief, end := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer end()
	if _, err := mariadb.Open(brief, "app", "mariadb://"+at); err == nil || !strings.Contains(err.Error(), "Error "+number) {
		t.Errorf("Open: %v", err)
	}
	time.AfterFunc(300*time.Millisecond, release)
	if rows, err := read(20 * time.Second); err != nil || len(rows) != 1 {
		t.Errorf("when connections are free again: %d records, %v", len(rows), err)
	}
}

// busy checks the error of a call that got no connection.
func busy(t *testing.T, what string, err error, number string) {
	t.Helper()
	got := problem.Of(err)
	if got == nil || got.Code != problem.Upstream || got.Lasting || got.Detail != "the source is busy: it has no free connection" || !strings.HasPrefix(got.Suggestion, "try again later") {
		t.Errorf("%s: %v, %+v", what, err, got)
		return
	}
	if log := fmt.Sprint(got.Err); !strings.Contains(log, "MariaDB error "+number) {
		t.Errorf("the log of %s has %q, not %s", what, log, number)
	}
}

// occupy closes all connections and opens as many as the server allows the users in others. release closes them.
func occupy(t *testing.T, at, others string, admin *sql.DB) (release func()) {
	t.Helper()
	for _, user := range strings.Fields(others) {
		if _, err := admin.Exec("KILL CONNECTION USER " + user); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(200 * time.Millisecond) // until they are closed
	_, server, _ := strings.Cut(at, "@")
	server, _, _ = strings.Cut(server, "/")
	var pools []*sql.DB
	var taken []*sql.Conn
	for _, user := range strings.Fields(others) {
		db, err := sql.Open("mysql", user+"@tcp("+server+")/desk")
		if err != nil {
			t.Fatal(err)
		}
		pools = append(pools, db)
		for conn, err := db.Conn(t.Context()); err == nil; conn, err = db.Conn(t.Context()) {
			taken = append(taken, conn)
		}
	}
	if len(taken) < 4 {
		t.Errorf("others have only %d connections", len(taken))
	}
	return func() {
		for _, c := range taken {
			c.Close()
		}
		for _, db := range pools {
			db.Close()
		}
	}
}

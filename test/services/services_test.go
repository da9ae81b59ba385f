package services

import (
	"bufio"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) {
	if os.Getenv("TESTSERVICES_DIE") != "" {
		die(os.Getenv("TESTSERVICES_DIE"))
	}
	code := m.Run()
	Stop()
	os.Exit(code)
}

// TestPostgresIsFresh tests that two databases are separate and are gone after their tests.
func TestPostgresIsFresh(t *testing.T) {
	var urls []string
	for i := range 2 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			u := Postgres(t)
			urls = append(urls, u)
			if err := exec(u, "CREATE TABLE t (a int)"); err != nil {
				t.Error(err)
			}
		})
	}
	for _, u := range urls {
		if err := exec(u, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "3D000") {
			t.Errorf("database after its test: %v, want 3D000 (it doesn't exist)", err)
		}
	}
}

// TestMariaDBIsFresh tests that two databases are separate and are gone after their tests.
func TestMariaDBIsFresh(t *testing.T) {
	var urls []string
	for i := range 2 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			u := MariaDB(t)
			urls = append(urls, u)
			if err := execMariaDB(u, "CREATE TABLE t (a int)"); err != nil {
				t.Error(err)
			}
		})
	}
	for _, u := range urls {
		if err := execMariaDB(u, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "Unknown database") {
			t.Errorf("database after its test: %v, want that it is unknown", err)
		}
	}
}

// TestLeftOut tests that a test without a server is skipped with LEFT OUT.
func TestLeftOut(t *testing.T) {
	for _, variable := range []string{postgresVariable, mariaDBVariable} {
		t.Setenv(variable, "none")
		if _, why := serverURL(variable); why == "" {
			t.Errorf("%s: no reason given", variable)
		}
	}
}

// TestDeath tests that no server is left behind, however the process that started it ends.
func TestDeath(t *testing.T) {
	Postgres(t) // skips if no server is available
	for _, way := range []string{"exit", "panic", "kill"} {
		t.Run(way, func(t *testing.T) {
			cmd := osexec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "TESTSERVICES_DIE="+way, postgresVariable+"=", "BAILIWICK_SERVICES=postgres")
			cmd.Stderr = nil
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			cmd.Wait()
			pid, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
			if n, err := strconv.Atoi(pid); err != nil || n < 2 {
				t.Fatalf("the child says %q, want the server's process id and folder", line)
			}
			gone := func(path string) bool { _, err := os.Stat(path); return os.IsNotExist(err) }
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				if gone("/proc/"+pid) && gone(folder) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("server %s or its folder %s is still there", pid, folder)
				}
			}
		})
	}
}

// die starts a server, reports its process id and folder, and ends the process.
func die(way string) {
	server, why := serverURL(postgresVariable)
	if why != "" {
		panic(why)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		panic(err)
	}
	var data string
	if err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&data); err != nil {
		panic(err)
	}
	pid, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		panic(err)
	}
	first, _, _ := strings.Cut(string(pid), "\n")
	fmt.Println(first, data)
	switch way {
	case "panic":
		panic("on purpose")
	case "kill":
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		panic(err) // it is not killed
	}
	os.Exit(0)
}

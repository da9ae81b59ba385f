package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

var identityAddr = netip.MustParseAddr("192.0.2.1")

func pending(id string) *change.Change {
	return &change.Change{ID: id, State: change.Pending, Digest: id, Agent: change.Party{Principal: "a"}, History: []change.Step{{State: change.Pending}}}
}

// TestOpenAtOnce opens a store in a new database many times at the same time, like replicas that start together.
func TestOpenAtOnce(t *testing.T) {
	for range 3 {
		url := services.Postgres(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := postgres.Open(context.Background(), url)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				r := record(1)
				if err := s.Append(context.Background(), &r); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s := open(t, url)
		if report, err := audit.Verify(t.Context(), s); err != nil || !report.Whole() || report.Records != 8 {
			t.Errorf("%+v, %v", report, err)
		}
		s.Close()
	}
}

func with(t *testing.T, text string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

func TestOpenRefuses(t *testing.T) {
	here := services.Postgres(t)
	newer := services.Postgres(t)
	open(t, newer).Close()
	sql(t, newer, `INSERT INTO bailiwick.migration VALUES (9999)`)
	name := fmt.Sprint("bw_", time.Now().UnixNano())
	latin := with(t, here, func(u *url.URL) { u.Path = "/" + name })
	sql(t, here, `CREATE DATABASE `+name+` ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
	t.Cleanup(func() {
		c := connectBack(here)
		c.Exec(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`)
		c.Close(context.Background())
	})
	sql(t, here, `CREATE ROLE `+name+` LOGIN PASSWORD 'secret'`)
	t.Cleanup(func() {
		c := connectBack(here)
		c.Exec(context.Background(), `DROP ROLE `+name)
		c.Close(context.Background())
	})
	as := func(user, password string) func(*url.URL) {
		return func(u *url.URL) { u.User = url.UserPassword(user, password) }
	}
	tests := []struct{ name, url, want string }{
		{"no URL", "postgres://u:secret@h:port/", "its URL can't be read"},
		{"nobody there", "postgres://u:secret@127.0.0.1:1/db", "127.0.0.1:1/db: the database can't be reached"},
		{"no such database", with(t, here, func(u *url.URL) { u.Path = "/nosuch" }), "there is no such database"},
		{"wrong password", with(t, here, as(name, "wrong-secret")), "the database refuses the user or the password"},
		{"may make nothing", with(t, here, as(name, "secret")), "the user lacks a right"},
		{"another encoding", latin, "its encoding is not UTF8"},
		{"of a newer version", newer, "a newer Bailiwick made it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := postgres.Open(t.Context(), tt.url)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	empty := services.Postgres(t)
	if _, err := postgres.OpenWith(t.Context(), empty, postgres.Options{There: true}); !errors.Is(err, postgres.ErrNone) {
		t.Error("a store that isn't there:", err)
	}
	open(t, empty).Close()
	if s, err := postgres.OpenWith(t.Context(), empty, postgres.Options{There: true}); err != nil {
		t.Error(err)
	} else {
		s.Close()
	}
}

// TestBesideOthers opens a store as a user who owns the schema but can't create one, in a database with other data.
func TestBesideOthers(t *testing.T) {
	here := services.Postgres(t)
	name := fmt.Sprint("bw_", time.Now().UnixNano())
	for _, text := range []string{
		`CREATE TABLE token (id int)`, `CREATE SCHEMA other`, `CREATE TABLE other.audit (id int)`,
		`CREATE ROLE ` + name + ` LOGIN PASSWORD 'secret'`, `CREATE SCHEMA bailiwick AUTHORIZATION ` + name,
		`ALTER ROLE ` + name + ` SET search_path = other`, `ALTER ROLE ` + name + ` SET synchronous_commit = off`,
		`ALTER ROLE ` + name + ` SET default_transaction_isolation = serializable`,
	} {
		sql(t, here, text)
	}
	t.Cleanup(func() {
		c := connectBack(here)
		defer c.Close(context.Background())
		for _, text := range []string{`DROP OWNED BY ` + name, `DROP ROLE ` + name} {
			if _, err := c.Exec(context.Background(), text); err != nil {
				t.Error(err)
			}
		}
	})
	s := open(t, with(t, here, func(u *url.URL) { u.User = url.UserPassword(name, "secret") }))
	defer s.Close()
	r := record(1)
	if err := s.Append(t.Context(), &r); err != nil {
		t.Error(err)
	}
	if _, err := s.Put(t.Context(), pending("1"), change.Filing{Life: time.Hour, Most: 9}); err != nil {
		t.Error(err)
	}
	var outside int
	err := connect(t, here).QueryRow(t.Context(), `SELECT count(*) FROM pg_class WHERE relowner = $1::regrole AND relnamespace <> 'bailiwick'::regnamespace AND relkind = 'r'`, name).Scan(&outside)
	if err != nil || outside != 0 {
		t.Errorf("%d tables outside of the schema, %v", outside, err)
	}
}

// TestUpgrade opens a store with a second migration. The migration must keep the rows, and the older program must
// reject the store afterwards.
func TestUpgrade(t *testing.T) {
	url := services.Postgres(t)
	s := open(t, url)
	put, err := s.Put(t.Context(), pending("1"), change.Filing{Life: time.Hour, Most: 9})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for range 2 {
		s, err := postgres.OpenSteps(t.Context(), url, map[string]string{"00006_color.sql": "ALTER TABLE bailiwick.change ADD COLUMN color text NOT NULL DEFAULT 'red'"})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), put.ID); err != nil || got.Digest != "1" {
			t.Errorf("%+v, %v", got, err)
		}
		s.Close()
	}
	var color string
	if err := connect(t, url).QueryRow(t.Context(), `SELECT color FROM bailiwick.change`).Scan(&color); err != nil || color != "red" {
		t.Error(color, err)
	}
	s, err = postgres.Open(t.Context(), url)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "a newer Bailiwick made it") {
		t.Error("a store with a migration that the program doesn't know:", err)
	}
}

// TestPooled opens a store through a pooler in transaction mode. This must fail with the reason.
func TestPooled(t *testing.T) {
	s, err := postgres.Open(t.Context(), services.PooledURL(t, services.Postgres(t)))
	if err == nil {
		s.Close()
		t.Fatal("a store behind a pooler in transaction mode was opened")
	}
	if !strings.Contains(err.Error(), "a pooler in transaction mode") || !strings.Contains(err.Error(), "or of a pooler in session mode") {
		t.Error(err)
	}
}

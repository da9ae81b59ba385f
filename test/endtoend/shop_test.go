package endtoend

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/jackc/pgx/v5"
)

func openSQLiteShop(t *testing.T, shop sourcetest.Dataset) source.Source {
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "BEGIN;"+strings.Join(shop.Script(t, sourcetest.SQLite), ";")+";COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := sqlite.Open(t.Context(), "shop", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func openPostgresShop(t *testing.T, shop sourcetest.Dataset) source.Source {
	url := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.PgConn().Exec(t.Context(), strings.Join(shop.Script(t, sourcetest.PostgreSQL), ";")).ReadAll(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	src, err := postgres.Open(t.Context(), "shop", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func openMariaDBShop(t *testing.T, shop sourcetest.Dataset) source.Source {
	u := services.MariaDB(t)
	parsed, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := parsed.User.Password()
	db, err := sql.Open("mysql", parsed.User.Username()+":"+password+"@tcp("+parsed.Host+")"+parsed.Path+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), strings.Join(shop.Script(t, sourcetest.MySQL), ";")); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := mariadb.Open(t.Context(), "shop", u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func openMemoryShop(t *testing.T, shop sourcetest.Dataset) source.Source {
	classes := shop.Classes("shop")
	return memory.New(classes, shop.Rows(t, classes))
}

package sqldriver

import (
	"context"
	"os"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/testservices"
	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) {
	code := m.Run()
	testservices.Stop()
	os.Exit(code)
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, ddl string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(context.Background(), ddl).ReadAll(); err != nil {
		t.Fatalf("%v in\n%s", err, ddl)
	}
}

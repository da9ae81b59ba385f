package connstring

import (
	"strings"
	"testing"
)

// TestParse checks the results for connection strings of applications. Errors must contain no part of the string.
func TestParse(t *testing.T) {
	for _, row := range []struct{ raw, want string }{
		{"postgres://u:p@h/db", "postgres://u:p@h/db"},
		{"postgresql://u@h:5433/db?sslmode=require", "postgresql://u@h:5433/db?sslmode=require"},
		{"postgres://h", "postgres://h/"},
		{"postgres:///db", "postgres:///db"},
		{"postgres://u:p%40ss%2Fw@h/db", "postgres://u:p%40ss%2Fw@h/db"},
		{"postgres://[::1]:5432/db", "postgres://[::1]:5432/db"},
		{"postgres://u@%2Fvar%2Frun%2Fpostgresql:5433/db", "postgres://u@/db?host=%2Fvar%2Frun%2Fpostgresql&port=5433"},
		{"postgres:///db?host=/tmp", "postgres:///db?host=%2Ftmp"},
		{"postgres://u@a,b:5433/db?target_session_attrs=read-write", "postgres://u@/db?host=a%2Cb&port=5432%2C5433&target_session_attrs=read-write"},
		{"postgres://a,b/db?port=6432", "postgres:///db?host=a%2Cb&port=6432"},
		{"postgres://u@h/db?schema=app&connection_limit=5&pgbouncer=true&pool_timeout=20", "postgres://u@h/db?pool_max_conns=5 [app]"},
		{"postgres://h/db?sslmode=prefer&sslaccept=strict", "postgres://h/db?sslmode=verify-full"},
		{"postgres://h/db?options=-c%20search_path%3Da&password=a+b", "postgres://:a+b@h/db?options=-c%20search_path%3Da"},
		{"postgres://h/db?ssl=true", "postgres://h/db?sslmode=require"},
		{"jdbc:postgresql://h:5432/db?user=u&password=p%26w&ssl=true&currentSchema=a,b&ApplicationName=x&targetServerType=primary", "postgresql://u:p&w@h:5432/db?sslmode=verify-full&target_session_attrs=primary [a b]"},
		{"postgresql+psycopg2://u:p@h/db", "postgresql://u:p@h/db"},
		{"postgresql+asyncpg://u:p@h/db?ssl=require", "postgresql://u:p@h/db?sslmode=require"},
		{"host=h port=5433 dbname=db user=u password='p \\'w'", "postgres://u:p%20%27w@h:5433/db"},
		{"host=/var/run dbname = db", "postgres:///db?host=%2Fvar%2Frun"},
		{"service=app", "postgres:///?service=app"},
		{"mysql+pymysql://u:p@h/db?charset=utf8mb4", "mysql://u:p@h/db"},
		{"mariadb+mariadbconnector://u:p@h:3307/db", "mariadb://u:p@h:3307/db"},
		{"jdbc:mariadb://h/db?user=u&password=p&useSSL=true&serverTimezone=UTC", "mariadb://u:p@h/db?tls=true"},
		{"jdbc:mysql://h/db?sslMode=VERIFY_IDENTITY", "mysql://h/db?tls=true"},
		{"mysql://u@h/db?sslaccept=accept_invalid_certs&connection_limit=3", "mysql://u@h/db?tls=skip-verify"},
		{"mysql://u@h/db?unix_socket=/run/my.sock", "mysql://u@h/db?socket=%2Frun%2Fmy.sock"},
		{"sqlite+aiosqlite:///app.db", "sqlite:app.db"},
		{"sqlite+pysqlite:////srv/app.db", "sqlite:/srv/app.db"},
		{"jdbc:sqlite:app.db", "sqlite:app.db"},
		{"sqlite:app.db", "sqlite:app.db"},
		{"mongodb://a,b/db", "mongodb://a,b/db"},

		{"postgres://u:s3@cret@h/db", "is not a URL such as postgres://"},
		{"postgres://u:s3/cret@h/db", "is not a URL such as postgres://"},
		{"postgres://u:s3?cret@h/db", "is not a URL such as postgres://"},
		{"postgres://u:s3#cret@h/db", "is not a URL such as postgres://"},
		{"postgres://u:s3%zzcret@h/db", "is not a URL such as postgres://"},
		{"postgres:s3cret", "is not a URL such as postgres://"},
		{"postgres://h/db?s3cret=x", "has an option that is not known here"},
		{"postgres://h/db?hostaddr=s3cret", "write the address as the host"},
		{"postgres://h/db?require_auth=s3cret", "not supported"},
		{"postgres://h/db?sslaccept=s3cret", "strict and accept_invalid_certs"},
		{"postgres://a,b,c/db?port=1,2", "numbers of hosts and ports"},
		{"host=h password='s3cret", "is not a list such as"},
		{"mysql://u:s3@cret@h/db", "is not a URL such as mariadb://"},
		{"mysql://h/", "is not a URL such as mariadb://"},
		{"mysql://h/db?sslca=s3cret", "certificate"},
		{"mysql://h/db?ssl-mode=s3cret", "tls=true"},
	} {
		p, err := Parse(row.raw)
		got := p.URL
		if p.Schemas != nil {
			got += " [" + strings.Join(p.Schemas, " ") + "]"
		}
		switch {
		case err != nil && strings.Contains(err.Error(), "s3"):
			t.Errorf("%s: the error repeats a part of it: %v", row.raw, err)
		case err != nil && !strings.Contains(err.Error(), row.want):
			t.Errorf("%s: %v, want %s", row.raw, err, row.want)
		case err == nil && got != row.want:
			t.Errorf("%s: %s, want %s", row.raw, got, row.want)
		case err == nil:
			if again, err := Parse(p.URL); err != nil || again.URL != p.URL {
				t.Errorf("%s: read again: %s, %v", p.URL, again.URL, err)
			}
		}
	}
}

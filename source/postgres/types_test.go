package postgres_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
)

// TestKeyTypes checks that records are found by the shown id, for every type that can be a key.
func TestKeyTypes(t *testing.T) {
	numeric := database.Key{"numeric", "1.50", "1.5000001", "0.00000000000000000001", "-12345678901234567890.5", "'NaN'"}
	if services.PostgresMajor() >= 14 {
		numeric = append(numeric, "'Infinity'", "'-Infinity'")
	}
	ranges := database.Key{"int8range", "'[1,5)'", "'empty'"}
	if services.PostgresMajor() >= 14 {
		ranges = database.Key{"int4multirange", "'{[1,5),[7,9)}'", "'{}'"}
	}
	suite.TestKeyTypes(t, []string{
		`CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s')`, `CREATE DOMAIN rating AS numeric(4,2) CHECK (VALUE > 0)`, `CREATE DOMAIN code AS text`,
		`CREATE TYPE pair AS (a int, b text)`, `CREATE EXTENSION IF NOT EXISTS citext`, `CREATE EXTENSION IF NOT EXISTS ltree`, `CREATE EXTENSION IF NOT EXISTS hstore`,
		`CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
	}, []database.Key{
		{"smallint", "-32768", "0", "7"},
		{"bigint", "9007199254740993", "-9223372036854775808", "9223372036854775807"},
		numeric,
		{"numeric(10,2)", "1.50", "-0.01", "100", "0"},
		{"numeric(10,0)", "1", "1000000000"},
		{"rating", "1.50", "10"},
		{"real", "0.1", "1e20", "-1.5", "'NaN'", "'Infinity'"},
		{"double precision", "0.1", "1e300", "1e21", "1e-7", "5e-324", "-1.5", "3", "'NaN'", "'Infinity'", "'-Infinity'"},
		{"money", "'10.00'", "'-3'"},
		{"boolean", "true", "false"},
		{"text", "'a'", "'A'", "'042'", "'42'", "' x '", "''", "'[1]'", "'true'", "'a/b c?d#e'", "'é'"},
		{"varchar(5)", "'a'", "'a '"},
		{"char(4)", "'a'", "'ab'"},
		{"citext", "'a@X'", "'b@x'"},
		{"text COLLATE loose", "'a'", "'B'"},
		{`"char"`, "'a'", "'b'"},
		{"name", "'a'", "'b'"},
		{"code", "'a'", "'b'"},
		{"mood", "'sad'", "'it''s'"},
		{"uuid", "'B0000000-0000-0000-0000-000000000000'", "'a0000000-0000-0000-0000-00000000000f'"},
		{"bytea", `'\x00ff'`, `'\x'`, `'\xdeadbeef'`},
		{"date", "'2026-01-31'", "'0044-03-15 BC'", "'12026-01-31'", "'infinity'", "'-infinity'"},
		{"timestamp", "'2026-01-31 10:00:00'", "'2026-01-31 10:00:00.000001'", "'12026-01-31 10:00'", "'0044-03-15 10:00 BC'", "'infinity'", "'-infinity'"},
		{"timestamptz", "'2026-01-31 10:00:00+02'", "'2026-01-31 10:00:00.5+02'", "'12026-01-31 10:00+00'", "'0044-03-15 10:00+00 BC'", "'infinity'", "'-infinity'"},
		{"timestamptz(0)", "'2026-01-31 10:00:00+02'"},
		{"time", "'10:00'", "'10:00:00.000001'", "'24:00'"},
		{"timetz", "'10:00+02'", "'10:00:00.5-03:30'"},
		{"interval", "'1 day'", "'90 minutes'", "'1 year 2 mons -3 days'", "'-00:00:01.5'", "'0'"},
		{"inet", "'10.0.0.1'", "'10.0.0.1/16'", "'::1'", "'2001:db8::/32'"},
		{"cidr", "'10.0.0.0/8'", "'10.0.0.0/32'", "'2001:db8::/32'"},
		{"macaddr", "'08:00:2b:01:02:03'"},
		{"macaddr8", "'08:00:2b:01:02:03:04:05'"},
		{"bit(3)", "B'101'", "B'011'"},
		{"varbit", "B'101'", "B'0101'", "B''"},
		{"oid", "1", "4294967295"},
		{"int4range", "'[1,5)'", "'(,5)'", "'empty'", "'(,)'"},
		{"tstzrange", "'[2026-01-01 00:00+00,)'", "'[2026-01-01 00:00+00,infinity)'"},
		{"numrange", "'[1.5,2.5]'"},
		ranges,
		{"ltree", "'a.b.c'", "'a'"},
		{"hstore", `'a=>1'`, `'"b c"=>NULL'`},
		{"jsonb", `'{"a": 1}'`, `'[1, 2]'`, `'"x"'`, `'1'`},
		{"int[]", "'{1,2}'", "'{}'"},
		{"text[]", `'{a,"b c"}'`},
		{"pair", "'(1,x)'"},
		{"pg_lsn", "'16/B374D848'"},
	})
}

package mariadb_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
)

// TestKeyTypes checks that records are found by the shown id, for every type that can be a key.
func TestKeyTypes(t *testing.T) {
	suite.TestKeyTypes(t, nil, []database.Key{
		{"tinyint", "-128", "0", "7"},
		{"tinyint(1)", "0", "1", "2", "-5"},
		{"bigint", "9007199254740993", "-9223372036854775808"},
		{"bigint unsigned", "18446744073709551615", "1"},
		{"decimal(10,2)", "1.50", "-0.01", "100", "0"},
		{"decimal(65,30)", "1.5", "0.000000000000000000000000000001"},
		{"float", "0.1", "1e20", "-1.5"},
		{"double", "0.1", "1e300", "1e21", "1e-7", "-1.5", "3"},
		{"bit(1)", "b'0'", "b'1'"},
		{"bit(8)", "b'101'", "b'11111111'"},
		{"bit(64)", "b'1111111111111111111111111111111111111111111111111111111111111111'", "b'1'"},
		{"year", "2026", "1999"},
		{"varchar(20)", "'a'", "'B'", "'042'", "'42'", "' x'", "''", "'[1]'", "'true'", "'é'"},
		{"varchar(20) CHARACTER SET latin1", "'a'", "'é'"},
		{"varchar(20) COLLATE utf8mb4_bin", "'a'", "'A'"},
		{"char(4)", "'a'", "'ab'"},
		{"enum('sad','ok')", "'sad'", "'ok'"},
		{"set('a','b')", "'a'", "'a,b'", "''"},
		{"uuid", "'B0000000-0000-0000-0000-000000000000'", "'a0000000-0000-0000-0000-00000000000f'"},
		{"binary(4)", "x'00ff'", "x'deadbeef'"},
		{"varbinary(8)", "x'00ff'", "x''", "x'deadbeef'"},
		{"date", "'2026-01-31'", "'9999-12-31'", "'1000-01-01'"},
		{"datetime", "'2026-01-31 10:00:00'", "'9999-12-31 23:59:59'"},
		{"datetime(6)", "'2026-01-31 10:00:00.000001'", "'2026-01-31 10:00:00'"},
		{"timestamp(3)", "'2026-01-31 10:00:00.5'"},
		{"time", "'10:00:00'", "'-838:59:59'", "'30:00:00'"},
		{"time(6)", "'10:00:00.000001'", "'10:00:00'"},
		{"inet4", "'10.0.0.1'", "'9.1.1.1'"},
		{"inet6", "'::1'", "'2001:db8::1'"},
	})
}

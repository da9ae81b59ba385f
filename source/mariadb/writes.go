package mariadb

import (
	"encoding/hex"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Writes implements sqlgen.Dialect.
func (dialect) Writes() sqlgen.Writes {
	return sqlgen.Writes{
		RowLock:     " FOR UPDATE",
		EmptyInsert: " () VALUES ()",
		MarkerColumns: " (change_id varchar(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY," +
			" digest varchar(64) CHARACTER SET ascii NOT NULL, fence bigint NOT NULL, receipt longtext CHARACTER SET utf8mb4, applied_at datetime(6)) ENGINE=InnoDB",
		MarkerConflict: "ON DUPLICATE KEY UPDATE change_id = bailiwick_applied.change_id",
		MarkerLock:     " FOR UPDATE",
		Now:            "UTC_TIMESTAMP(6)",
		Types: map[string]string{
			"string": "longtext", "integer": "bigint", "double": "double", "decimal": "decimal(38,10)", "boolean": "boolean",
			"date": "datetime(6)", "day": "date", "uuid": "uuid", "bytes": "longblob", "json": "json",
		},
		KeyTypes:     map[string]string{"string": "varchar(190)", "integer": "bigint", "uuid": "uuid"},
		Generated:    "bigint AUTO_INCREMENT PRIMARY KEY",
		CreateTable:  "CREATE TABLE IF NOT EXISTS ", // it can't be rolled back, and a later attempt may repeat it
		TableOptions: " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4",
		Columns: func(place string) string {
			return "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = " + place + " ORDER BY ORDINAL_POSITION"
		},
		LockTable: func(table string) string { return "LOCK TABLES " + table + " WRITE" },
		Bind:      bind,
		Place:     asColumn,
		// The ranges include unsigned columns. MariaDB itself rejects other values.
		Ranges: map[string][2]int64{"tinyint": {-1 << 7, 1<<8 - 1}, "smallint": {-1 << 15, 1<<16 - 1}, "mediumint": {-1 << 23, 1<<24 - 1},
			"int": {-1 << 31, 1<<32 - 1}},
		Single:   "float",
		Quotes:   "'\"`",
		Escapes:  `'"`,
		Comments: []string{"-- ", "--\t", "--\n", "--\r", "--\f", "--\v", "#"}, // 1--1 is 2
		Run:      []string{"/*!", "/*M!"},
	}
}

// bind returns a value as the argument that the driver expects. The driver would send bytes as text, so bytes become
// hex.
func bind(v value.Value, f *schema.Field) any {
	switch v.Kind() {
	case value.Bool:
		if v.Bool() {
			return int64(1)
		}
		return int64(0)
	case value.Int:
		return v.Int()
	case value.Float:
		return v.Float()
	case value.Decimal:
		if x, _ := v.AsFloat(); f != nil && f.Type == schema.Double {
			return x
		}
	case value.Bytes:
		return hex.EncodeToString([]byte(v.Text()))
	case value.Date:
		if f != nil {
			return sqlgen.Clock(v)
		}
	}
	return v.String()
}

// asColumn converts an argument for a column of bytes or of points.
func asColumn(at string, f *schema.Field) string {
	switch {
	case f.Type == schema.Bytes:
		return "UNHEX(" + at + ")"
	case f.Native == "geometry":
		return "ST_GeomFromText(" + at + ")"
	}
	return at
}

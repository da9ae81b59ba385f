package mariadb

import "github.com/bailiwick-dev/bailiwick/internal/sqlgen"

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
	}
}

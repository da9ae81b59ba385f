package sqlite

import (
	"math"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Writes implements sqlgen.Dialect.
func (dialect) Writes() sqlgen.Writes {
	return sqlgen.Writes{
		EmptyInsert:    " DEFAULT VALUES",
		MarkerColumns:  " (change_id TEXT PRIMARY KEY, digest TEXT NOT NULL, fence INTEGER NOT NULL, receipt TEXT, applied_at TEXT)",
		MarkerConflict: "ON CONFLICT (change_id) DO NOTHING",
		Now:            "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
		Types: map[string]string{
			"string": "TEXT", "integer": "INT", "double": "REAL", "decimal": "NUMERIC", "boolean": "BOOLEAN",
			"date": "DATETIME", "day": "DATE", "uuid": "UUID", "bytes": "BLOB", "json": "JSON",
		},
		KeyTypes:    map[string]string{"string": "TEXT", "integer": "INT", "uuid": "UUID"},
		Generated:   "INTEGER PRIMARY KEY AUTOINCREMENT",
		CreateTable: "CREATE TABLE ",
		Columns: func(place string) string {
			return "SELECT c.name FROM main.sqlite_schema AS s LEFT JOIN pragma_table_info(s.name, 'main') AS c WHERE lower(s.name) = lower(" + place + ") ORDER BY c.cid"
		},
		Bind:     bind,
		Whole:    func(f *schema.Field) bool { return !doubles(f) },
		Infinite: func(f *schema.Field, x float64) bool { return f.Type == schema.Double && !math.IsNaN(x) }, // SQLite stores NaN as null
		Moment:   moment,
		Quotes:   "'\"`",
		Comments: []string{"--"},
	}
}

// bind returns a value as the argument that the driver expects.
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
		if x, _ := v.AsFloat(); f == nil || f.Type == schema.Double {
			return x
		}
	case value.Bytes:
		return []byte(v.Text())
	}
	return v.String()
}

// moment returns an instant in the form of the column's other values: a text of some layout, or a number. If such a
// number can't represent the instant, it returns a text. It never fails, because other people may have chosen the
// form.
func moment(f *schema.Field, at time.Time, form any) any {
	whole := at.UnixMicro()%1000 == 0
	switch like := form.(type) {
	case int64:
		const seconds = 99999999999 // from 10^11 on, an integer counts milliseconds, see sqlgen
		ms := at.UnixMilli()
		switch {
		case like >= -seconds && like <= seconds && whole && ms%1000 == 0:
			return at.Unix()
		case whole && (ms < -seconds || ms > seconds):
			return ms
		}
	case float64:
		if whole {
			return float64(at.UnixMilli())/86400000 + 2440587.5
		}
	case string:
		return at.Format(shape(like, f.Type == schema.Day))
	}
	switch {
	case f.Type == schema.Day:
		return at.Format(time.DateOnly)
	case strings.Contains(strings.ToUpper(f.Default), "CURRENT_TIMESTAMP"):
		return at.Format("2006-01-02 15:04:05.999999")
	}
	return at.Format("2006-01-02T15:04:05.999999Z")
}

// shape returns a layout that formats instants in UTC in the form of the given text.
func shape(like string, day bool) string {
	if len(like) <= len(time.DateOnly) && day {
		return time.DateOnly
	}
	if len(like) < len("2006-01-02T15:04:05") {
		return "2006-01-02T15:04:05.999999Z"
	}
	layout := "2006-01-02" + like[10:11] + "15:04:05.999999"
	switch rest := strings.TrimLeft(like[19:], ".0123456789"); {
	case rest == "":
	case rest[0] == 'Z' || rest[0] == 'z':
		layout += "Z"
	default:
		layout += "+00:00"
	}
	return layout
}

package main

import "bytes"

// natives are the types of databases, with the possible uses of their values. Tests over all types of keys and of
// values hold the rows to the databases: TestKeyTypes in the packages of the sources.
var natives = [][5]string{
	{"smallint … bigint, tinyint …", "integer", "all", "yes", "numbers, or their digits as text"},
	{"bigint unsigned, bit(64) of MariaDB", "decimal", "all", "yes", "numbers, or their digits as text"},
	{"numeric, decimal, money", "decimal", "all; `NaN` and `Infinity` of PostgreSQL as texts", "yes; NaN and infinities count as null", "numbers, or their digits as text; NaN and infinities where the column holds them"},
	{"real, double precision, float", "double", "all; `NaN`, `Infinity` and `-Infinity` as texts", "yes; NaN and infinities are null in sums", "numbers, or their digits as text; NaN and infinities of PostgreSQL"},
	{"boolean, tinyint(1), bit(1)", "boolean", "$eq, $ne, $in, $nin", "yes", "true or false"},
	{"text, varchar, char, name, enum, set", "string", "all, by code points", "yes", "texts; values that an enum has"},
	{"citext, texts with a collation", "string", "all, by code points; whether another record has the same is asked as the column compares", "yes", "texts"},
	{"date", "date", "all; of PostgreSQL also `infinity` and years before 1 and after 9999", "yes; such dates count as null", "ISO 8601; `infinity` and such years where the column holds them"},
	{"timestamp, timestamptz, datetime", "date", "as date", "as date", "as date"},
	{"time of PostgreSQL", "string", "all", "as text", "`13:05:00`"},
	{"time of MariaDB", "string", "$eq … $lte, as MariaDB compares", "SQL, as text", "`13:05:00`, `-100:00:00`"},
	{"timetz, interval", "string", "$eq … $lte, as PostgreSQL compares: `P1D` is more than `PT23H`", "SQL, as text", "`13:05:00+02`; `P1DT2H`, `1 day 02:00:00`"},
	{"inet, cidr, macaddr, macaddr8, inet4, inet6", "string", "$eq … $lte, as the database compares", "SQL, as text", "addresses"},
	{"bit(n), varbit, oid of PostgreSQL", "string", "$eq … $lte, as PostgreSQL compares", "SQL, as text", "`0101`"},
	{"ranges and multiranges", "string", "$eq, $ne, $in, $nin, by the text that is shown", "SQL, as text", "`[1,10)`"},
	{"hstore, ltree, xml, composite types", "string", "$eq, $ne, $in, $nin, by the text that is shown", "SQL, as text", "texts that the database takes"},
	{"tsvector", "opaque", "$exists; $text searches it", "no", "no"},
	{"point of PostgreSQL, points of PostGIS", "string", "$geoWithin, $near, and $eq, $ne, $in, $nin by the text that is shown", "SQL, as text", "`(10.75,59.91)`"},
	{"point of MariaDB", "string", "$geoWithin, $near, and $eq, $ne, $in, $nin by the text that is shown", "SQL, as text", "`POINT(10.75 59.91)`"},
	{"other geometries of MariaDB", "string", "$eq, $ne, $in, $nin, by well-known text", "SQL, as text", "well-known text"},
	{"uuid", "uuid", "all", "yes", "in either case"},
	{"bytea, blob, binary", "bytes", "$eq … $lte", "no", "base64"},
	{"json, jsonb", "json", "paths, $elemMatch, $size", "yes", "any JSON"},
	{"lists (int[], mood[])", "array", "elements, $all, $size", "yes", "lists; each element is checked, and get_schema says what it may be"},
	{"columns of SQLite", "by the declared type", "values of the type; an id finds values of any type", "values of the type", "values of the type"},
}

// nativeTypes writes what can be read, compared, computed and written per type. Every type is read as answers show it, and an id is found
// again as it is shown.
func nativeTypes(b *bytes.Buffer) {
	b.WriteString("\n## Types\n\nEvery value is read. What answers show of an id finds the record again, for every type but JSON and lists, which are no keys. " +
		"A text that is not in the form of its type is refused with the form, and with its place.\n\n" +
		"| type of the database | type here | conditions | expressions | writes |\n|---|---|---|---|---|\n")
	for _, row := range natives {
		for _, c := range row {
			b.WriteString("| " + c + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString(uncounted)
}

// uncounted is about the values that expressions read as null (schema.Field.Beyond).
const uncounted = `
## Values that count as null

Some stored values count as null in expressions:

| database | values |
|---|---|
| PostgreSQL | NaN, infinite numbers, numbers of 1e600 and beyond, infinite dates, dates outside of the years 1 to 9999 |
| MariaDB | 0000-00-00, dates that aren't in the calendar, numbers of 1e35 and beyond, ` + "`tinyint(1)`" + ` with another number than 0 and 1 |
| SQLite | values of another type than the column's |

If a group reads such values of PostgreSQL or MariaDB, the answer has a note with their number, field and columns: "3 values of due
count as null in latest: each is infinite, or outside of the years 1 to 9999".

- The database counts them in the same statement, in the records that the caller may see. Columns of other types cost nothing.
- The note is about the groups on the page. Without such values there is no note.
- A sum, an average or a deviation of doubles is null if one of the doubles is NaN or infinite, also in SQLite. The note says how many are.
- A count isn't carried through a join, a union, ` + "`$lookup`, `$unwind`, `$facet`" + `, a scalar sub-query or a window function. If a group comes
  before one of them, or is inside of one, the note says which values would count as null, and that they were not counted.
- Values of another type in a column of SQLite are left out without a note, as are values in window functions, and in expressions outside
  of groups.
`

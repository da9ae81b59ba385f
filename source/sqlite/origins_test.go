package sqlite

import (
	"context"
	"strings"
	"testing"
)

// TestOrigins checks the origins of the columns of views.
func TestOrigins(t *testing.T) {
	db := openSQLite(t, `
CREATE TABLE people (id INTEGER PRIMARY KEY, first text, last text, pw text, born date, "Odd name" text, whole text AS (first || last));
CREATE TABLE logs (id INTEGER PRIMARY KEY, who text, old text, n int, at text);
CREATE TRIGGER x AFTER UPDATE OF pw ON people WHEN old.pw <> new.pw BEGIN
	INSERT INTO logs (who, old, at) VALUES (new.first, json_object('p', old.pw), datetime('now')); UPDATE orders SET note = lower(new.last) || total WHERE person = new.id; END;
CREATE TABLE orders (id INTEGER PRIMARY KEY, person int, total numeric, note text);
CREATE VIEW a AS SELECT id, first || ' ' || last AS name, 1 AS one, "Odd name" odd, upper(p.[first]) up FROM people p;
CREATE VIEW b (title, whole) AS SELECT name, one FROM a UNION ALL SELECT note, 'x' FROM orders UNION SELECT last, first FROM people ORDER BY 1;
CREATE VIEW c AS WITH x AS (SELECT id, pw FROM people), y(k, v) AS (SELECT * FROM x) SELECT y.v, (SELECT max(note) FROM orders o WHERE o.person = y.k) AS n,
	EXISTS (SELECT pw FROM people) AS e, y.k IN (SELECT person FROM orders) AS i FROM y;
CREATE VIEW d AS WITH RECURSIVE t(id, v) AS (SELECT id, first FROM people UNION ALL SELECT t.id + 1, t.v || o.note FROM t JOIN orders o USING (id)) SELECT * FROM t;
CREATE VIEW e AS SELECT * FROM people JOIN orders USING (id) WHERE pw IS DISTINCT FROM note;
CREATE VIEW f AS SELECT count(*) AS n, group_concat(last, ',') AS s, count(*) FILTER (WHERE pw <> '') AS c, first FROM people GROUP BY first;
CREATE VIEW g AS SELECT id, rank() OVER (PARTITION BY last ORDER BY born) AS r, lag(pw) OVER w AS l FROM people WINDOW w AS (ORDER BY id);
CREATE VIEW h AS SELECT v.column1 AS v, j.value AS x, k.total FROM (VALUES ('x'), ((SELECT min(pw) FROM people))) v, orders o, json_each(o.note) AS j, (SELECT total FROM orders) k;
CREATE VIEW i AS SELECT pw FROM (SELECT (pw) COLLATE NOCASE FROM people);
CREATE VIEW j AS SELECT "max(pw)" AS m FROM (SELECT max(pw) FROM people);
CREATE VIEW k AS SELECT CASE WHEN pw IS NULL THEN 'no' ELSE 'yes' END AS has, CAST(last AS text) AS l, a.* FROM people AS q LEFT JOIN a ON a.id = q.id;
CREATE VIEW l AS SELECT sql FROM sqlite_schema;
CREATE VIEW m AS SELECT rowid AS r, id FROM people;
CREATE VIEW n AS SELECT * FROM (SELECT first AS x, o.* FROM (people CROSS JOIN orders AS o)) WHERE x <> 'from';
CREATE VIEW o AS SELECT whole, (SELECT o.note FROM orders o WHERE o.id = people.id) || people.first AS both FROM people`)
	classes, _, err := describe(context.Background(), db, "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range classes {
		for _, f := range c.Fields {
			var list []string
			for _, o := range f.Origins {
				list = append(list, o.String())
			}
			if f.Untraced != "" {
				list = append(list, "("+f.Untraced+")")
			}
			got[c.Name+"."+f.Name] = strings.Join(list, " ")
		}
	}
	for field, want := range map[string]string{
		"logs.who": "people.first", "logs.old": "people.pw", "logs.at": "", "logs.n": "", "orders.note": "orders.total people.last", "orders.total": "",
		"people.pw": "", "a.id": "people.id", "a.name": "people.first people.last", "a.one": "", "a.odd": "people.Odd name", "a.up": "people.first",
		"b.title": "a.name orders.note people.last", "b.whole": "a.one people.first",
		"c.v": "people.pw", "c.n": "orders.note", "c.e": "", "c.i": "orders.person people.id",
		"d.id": "orders.id people.id", "d.v": "orders.note people.first",
		"e.id": "orders.id people.id", "e.first": "people.first", "e.note": "orders.note", "e.person": "orders.person",
		"f.n": "", "f.s": "people.last", "f.c": "people.pw", "f.first": "people.first",
		"g.id": "people.id", "g.r": "people.born people.last", "g.l": "people.id people.pw",
		"h.v": "people.pw", "h.x": "orders.note", "h.total": "orders.total", "i.pw": "people.pw", "j.m": "people.pw",
		"k.has": "people.pw", "k.l": "people.last", "k.name": "a.name", "l.sql": "the columns of sqlite_schema",
		"m.r": "the columns of people (its text names rowid, which isn't found)", "m.id": "people.id",
		"n.x": "people.first", "n.note": "orders.note", "o.whole": "people.whole", "o.both": "orders.note people.first",
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
}

package mariadb_test

import (
	"strings"
	"testing"
)

// TestOrigins checks the origins of the columns of views.
func TestOrigins(t *testing.T) {
	_, classes, _ := opened(t, "CREATE TABLE people (id int PRIMARY KEY, first text, last text, pw text, born date, `Odd name` text, made text AS (concat(first, 'it\\'s', last)))",
		"CREATE TABLE orders (id int PRIMARY KEY, person int, total decimal(9,2), note text)",
		"CREATE TABLE logs (id int PRIMARY KEY AUTO_INCREMENT, who text, old text, n int, at datetime)",
		"CREATE TRIGGER x BEFORE UPDATE ON people FOR EACH ROW BEGIN DECLARE v text; SET v = lower(NEW.last), NEW.first = concat(v, 'it\\'s'); IF NEW.pw <> OLD.pw THEN "+
			"INSERT INTO logs (who, old, at) SELECT p.first, OLD.pw, now() FROM people p WHERE p.id = NEW.id; END IF; SET NEW.born = (SELECT max(o.total) FROM orders o); END",
		"CREATE FUNCTION pw_of(x int) RETURNS text READS SQL DATA RETURN (SELECT pw FROM people WHERE id = x)",
		"CREATE FUNCTION glue(x text, y text) RETURNS text DETERMINISTIC RETURN concat(x, y)",
		"CREATE VIEW a AS SELECT id, concat(first, ' it\\'s ', last) AS name, 1 AS one, `Odd name` odd, upper(p.last) FROM people p",
		"CREATE VIEW b (title, whole) AS SELECT name, one FROM a UNION ALL SELECT note, 'x' FROM orders UNION SELECT last, first FROM people ORDER BY 1",
		"CREATE VIEW c AS WITH x AS (SELECT id, pw FROM people), y(k, v) AS (SELECT * FROM x) SELECT y.v, (SELECT max(note) FROM orders o WHERE o.person = y.k) AS n, "+
			"EXISTS (SELECT pw FROM people) AS e, y.k IN (SELECT person FROM orders) AS i FROM y",
		"CREATE VIEW d AS WITH RECURSIVE t(id, v) AS (SELECT id, first FROM people UNION ALL SELECT t.id + 1, concat(t.v, o.note) FROM t JOIN orders o USING (id)) SELECT * FROM t",
		"CREATE VIEW e AS SELECT * FROM people JOIN orders USING (id) WHERE pw <=> note",
		"CREATE VIEW f AS SELECT count(*) AS n, group_concat(DISTINCT last ORDER BY born SEPARATOR ',') AS s, sum(CASE WHEN pw IS NULL THEN 0 ELSE 1 END) AS c, first FROM people GROUP BY first",
		"CREATE VIEW g AS SELECT id, rank() OVER (PARTITION BY last ORDER BY born) AS r, lag(pw) OVER (ORDER BY id) AS l, born + INTERVAL 1 DAY AS later, extract(YEAR FROM born) AS y, "+
			"CAST(first AS CHAR(9) CHARACTER SET latin1) AS k, convert(last USING utf8mb4) COLLATE utf8mb4_bin AS u, date_format(born, '%Y') AS df FROM people",
		"CREATE VIEW h AS SELECT k.total, j.v, pw_of(o.id) AS p, glue(o.note, 'x') AS gl FROM (SELECT total FROM orders) k, orders o, JSON_TABLE(o.note, '$[*]' COLUMNS (v text PATH '$.v')) AS j",
		"CREATE VIEW i AS SELECT a.name AS x, p.pw IS NULL AS none, trim(BOTH ' ' FROM p.last) AS t FROM (a LEFT JOIN people p ON a.id = p.id) CROSS JOIN (orders o JOIN orders q ON q.id = o.id)",
		"CREATE VIEW j AS (SELECT first FROM people LIMIT 1) UNION (SELECT note FROM orders ORDER BY id LIMIT 1)",
		"CREATE VIEW k AS SELECT `max(pw)` AS m FROM (SELECT max(pw) FROM people) z",
		"CREATE VIEW l AS SELECT User AS u FROM mysql.user",
		"CREATE VIEW m AS SELECT first, percentile_cont(0.5) WITHIN GROUP (ORDER BY id) OVER (PARTITION BY last) AS med FROM people")
	got := map[string]string{}
	for _, c := range classes {
		for _, f := range c.Fields {
			var list []string
			for _, o := range f.Origins {
				list = append(list, strings.TrimPrefix(o.Space+".", ".")+o.String())
			}
			if f.Untraced != "" {
				list = append(list, "("+f.Untraced+")")
			}
			got[c.Name+"."+f.Name] = strings.Join(list, " ")
			if c.Name == "people" && f.Name == "made" && strings.Join(f.From, " ") != "first last" {
				t.Errorf("made from %q", f.From)
			}
		}
	}
	for field, want := range map[string]string{
		"logs.who": "people.first", "logs.old": "people.pw", "logs.at": "", "people.first": "people.last", "people.born": "orders.total", "people.last": "",
		"people.pw": "", "a.id": "people.id", "a.name": "people.first people.last", "a.one": "", "a.odd": "people.Odd name",
		"b.title": "a.name orders.note people.last", "b.whole": "a.one people.first",
		"c.v": "people.pw", "c.n": "orders.note", "c.e": "", "c.i": "orders.person people.id",
		"d.id": "people.id", "d.v": "orders.note people.first",
		"e.id": "people.id", "e.first": "people.first", "e.note": "orders.note", "e.person": "orders.person",
		"f.n": "", "f.s": "people.born people.last", "f.c": "people.pw", "f.first": "people.first",
		"g.id": "people.id", "g.r": "people.born people.last", "g.l": "people.id people.pw", "g.later": "people.born", "g.y": "people.born", "g.k": "people.first",
		"g.u": "people.last", "g.df": "people.born",
		"h.total": "orders.total", "h.v": "orders.note", "h.gl": "orders.note", "h.p": "orders.id the columns of people (it calls the function pw_of, which reads tables itself)",
		"i.x": "a.name", "i.none": "people.pw", "i.t": "people.last", "j.first": "orders.note people.first", "k.m": "people.pw", "l.u": "mysql.user.User",
		"m.first": "people.first", "m.med": "people.id people.last",
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
}

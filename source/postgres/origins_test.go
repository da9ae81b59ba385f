package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestOrigins checks the origins of the columns of views.
func TestOrigins(t *testing.T) {
	conn := connect(t, services.Postgres(t))
	run(t, conn, `
CREATE TABLE people (id int PRIMARY KEY, first text, last text, pw text, born date, "Odd name (x)" text);
CREATE TABLE orders (id int PRIMARY KEY, person int, total numeric, note text);
CREATE SCHEMA other; CREATE TABLE other.logins (person int, pw text);
CREATE TABLE logs (id int, who text, old jsonb, n int, at timestamptz, pw text, words text);
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE v text; w text;
BEGIN
	v := lower(NEW.pw);
	SELECT o.note, o.id INTO w FROM orders o WHERE o.person = NEW.id;
	IF TG_OP = 'UPDATE' AND NEW.born <> OLD.born THEN NEW.first := w || 'x'; NEW.last = NEW.last; END IF;
	INSERT INTO logs (who, old, at, pw) VALUES (NEW.first, to_jsonb(OLD), now() AT TIME ZONE 'utc', v);
	UPDATE public.logs SET words = coalesce(NEW.last, 'a') || n WHERE who = NEW.first;
	RETURN NEW;
END$$;
CREATE TRIGGER noted BEFORE UPDATE ON people FOR EACH ROW EXECUTE FUNCTION noted();
CREATE FUNCTION joined(text, text) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1 || $2';
CREATE FUNCTION pw_of(x int) RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN RETURN (SELECT pw FROM people WHERE people.id = x); END$$;
CREATE FUNCTION outer_of(x int) RETURNS text LANGUAGE sql STABLE AS 'SELECT pw_of(x)';
CREATE FUNCTION ran(x text) RETURNS text LANGUAGE plpgsql AS $$DECLARE r text; BEGIN EXECUTE x INTO r; RETURN r; END$$;
CREATE FUNCTION plus(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1 || $2';
CREATE OPERATOR #+ (LEFTARG = text, RIGHTARG = text, FUNCTION = plus);
CREATE AGGREGATE glue (text) (SFUNC = plus, STYPE = text);
CREATE FUNCTION atomic_of(x int) RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT note FROM orders WHERE orders.id = x; END;
CREATE VIEW a AS SELECT id, first || ' ' || last AS name, 1 AS one, now() AS at, p.ctid::text AS place, (p.*)::text AS whole, "Odd name (x)" odd FROM people p;
CREATE VIEW b AS SELECT name AS title, whole FROM a UNION ALL SELECT note, 'x' FROM orders UNION SELECT last, first FROM people;
CREATE VIEW c AS WITH x AS (SELECT id, pw FROM people), y AS (SELECT * FROM x) SELECT y.pw AS v, (SELECT max(note) FROM orders o WHERE o.person = y.id) AS n,
	EXISTS (SELECT pw FROM people) AS e, y.id IN (SELECT person FROM orders) AS i FROM y;
CREATE VIEW d AS WITH RECURSIVE t(id, v) AS (SELECT id, first FROM people UNION ALL SELECT t.id + 1, t.v || o.note FROM t JOIN orders o USING (id)) SELECT * FROM t;
CREATE VIEW e AS SELECT id, coalesce(o.note, p.last) AS n FROM people p FULL JOIN orders o USING (id);
CREATE VIEW f AS SELECT count(*) AS n, string_agg(last, ',' ORDER BY born) AS s, count(*) FILTER (WHERE pw <> '') AS c, first FROM people GROUP BY first;
CREATE VIEW g AS SELECT id, rank() OVER (PARTITION BY last ORDER BY born) AS r, lag(pw) OVER w AS l FROM people WINDOW w AS (ORDER BY id);
CREATE VIEW h AS SELECT joined(first, last) AS j, pw_of(id) AS p, outer_of(id) AS o, ran('SELECT 1') AS r, first #+ last AS op, atomic_of(id) AS at FROM people;
CREATE VIEW i AS SELECT v.column1 AS v, u.x, j.k FROM (VALUES ('x'), ((SELECT min(pw) FROM people))) v, orders o, LATERAL unnest(ARRAY[o.note]) AS u(x), LATERAL (SELECT o.total AS k) j;
CREATE VIEW j AS SELECT pw FROM other.logins;
CREATE VIEW other.k AS SELECT pw AS renamed FROM other.logins;
CREATE VIEW l AS SELECT renamed FROM other.k;
CREATE MATERIALIZED VIEW m AS SELECT first, glue(last) AS g FROM people GROUP BY first;
CREATE VIEW n AS SELECT query_to_xml('select 1', true, true, '')::text AS q, CASE WHEN pw = '' THEN 'no' ELSE 'yes' END AS has, row_to_json(p)->>'x' AS j FROM people p;
CREATE VIEW o AS SELECT x.* FROM orders, XMLTABLE('/a' PASSING (note::xml) COLUMNS c text PATH 'b') x;
CREATE VIEW p AS SELECT u.email FROM (SELECT usename AS email FROM pg_catalog.pg_user) u;
CREATE VIEW q AS SELECT grouping(first) AS g, first, sum(id) AS s FROM people GROUP BY ROLLUP (first);`)
	classes, _, err := describe(context.Background(), conn, "db", func(space, table string) (string, bool) {
		if space == "other" {
			return "", false
		}
		return table, false
	})
	if err != nil {
		t.Fatal(err)
	}
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
		}
	}
	for field, want := range map[string]string{
		"logs.who": "people.first", "logs.old": "the columns of people", "logs.at": "", "logs.pw": "people.pw", "logs.words": "logs.n people.last",
		"people.first": "orders.note", "people.last": "", "people.pw": "", "a.id": "people.id", "a.name": "people.first people.last", "a.one": "", "a.at": "", "a.place": "", "a.whole": "the columns of people", "a.odd": "people.Odd name (x)",
		"b.title": "a.name orders.note people.last", "b.whole": "a.whole people.first",
		"c.v": "people.pw", "c.n": "orders.note", "c.e": "", "c.i": "orders.person people.id",
		"d.id": "people.id", "d.v": "orders.note people.first",
		"e.id": "orders.id people.id", "e.n": "orders.note people.last",
		"f.n": "", "f.s": "people.born people.last", "f.c": "people.pw", "f.first": "people.first",
		"g.id": "people.id", "g.r": "people.born people.last", "g.l": "people.id people.pw",
		"h.j": "people.first people.last", "h.p": "the columns of people people.id (the view calls the function pw_of, which reads tables itself)",
		"i.v": "people.pw", "i.x": "orders.note", "i.k": "orders.total",
		"j.pw": "other.logins.pw", "l.renamed": "other.logins.pw", "m.g": "people.last", "n.has": "people.pw", "n.j": "the columns of people",
		"n.q": "any column of the source (the view calls the function query_to_xml, which may read any table)",
		"o.c": "orders.note", "p.email": "pg_catalog.pg_user.usename", "q.g": "people.first", "q.first": "people.first", "q.s": "people.id",
		"h.r": "any column of the source (the view calls the function ran, which may read any table)", "h.op": "people.first people.last",
		"h.o":  "the columns of people people.id (the view calls the function pw_of, which reads tables itself)",
		"h.at": "the columns of orders people.id (the view calls the function atomic_of, which reads tables itself)",
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
}

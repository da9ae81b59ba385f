-- A music shop, for notes.txt. Each INSERT makes its records by a rule.
CREATE TABLE artists (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE albums (id integer PRIMARY KEY, title text NOT NULL, artist_id integer NOT NULL REFERENCES artists (id));
CREATE TABLE genres (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE tracks (id integer PRIMARY KEY, name text NOT NULL, album_id integer REFERENCES albums (id), genre_id integer REFERENCES genres (id), composer text, milliseconds integer NOT NULL, unit_price real NOT NULL);
CREATE TABLE employees (id integer PRIMARY KEY, name text NOT NULL, title text, reports_to integer REFERENCES employees (id));
CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL, company text, city text NOT NULL, state text, country text NOT NULL, support_id integer REFERENCES employees (id));
CREATE TABLE invoices (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers (id), billing_state text, paid integer NOT NULL, total real NOT NULL);
CREATE TABLE invoice_lines (id integer PRIMARY KEY, invoice_id integer NOT NULL REFERENCES invoices (id), track_id integer NOT NULL REFERENCES tracks (id), unit_price real NOT NULL, quantity integer NOT NULL);
INSERT INTO artists WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT i, 'Artist ' || i FROM n;
INSERT INTO albums WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45) SELECT i, 'Album ' || i, 1 + (i * i) % 20 FROM n;
INSERT INTO genres VALUES (1, 'Rock'), (2, 'Jazz'), (3, 'Metal'), (4, 'Latin'), (5, 'Opera'), (6, 'Blues');
INSERT INTO tracks WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 160) SELECT i, 'Track ' || i, 1 + (i * 7) % 45, CASE WHEN i % 40 = 7 THEN 5 WHEN i % 3 = 0 THEN 1 WHEN i % 7 = 0 THEN 4 ELSE 2 + i % 2 END, CASE WHEN i % 4 = 0 THEN NULL ELSE 'Composer ' || (i % 11) END, 1000 * (120 + (i * 37) % 200), CASE WHEN i % 13 = 0 THEN 1.99 ELSE 0.99 END FROM n;
INSERT INTO employees VALUES (1, 'Ada', 'Manager', NULL), (2, 'Bo', 'Agent', 1), (3, 'Cleo', 'Agent', 1), (4, 'Dag', NULL, 1), (5, 'Eva', 'Agent', 2);
INSERT INTO customers WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i, 'Customer ' || i, CASE WHEN i % 3 = 0 THEN 'Company ' || (i % 4) END, CASE i % 5 WHEN 0 THEN 'Oslo' WHEN 1 THEN 'Paris' WHEN 2 THEN 'Berlin' WHEN 3 THEN 'Prague' ELSE 'Rome' END, CASE WHEN i % 2 = 0 THEN 'S' || (i % 6) END, CASE WHEN i % 9 = 0 THEN 'Norway' WHEN i % 4 = 0 THEN 'France' WHEN i % 5 = 0 THEN 'Chile' ELSE 'Germany' END, CASE WHEN i % 10 = 0 THEN NULL ELSE 2 + i % 4 END FROM n;
INSERT INTO invoices WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, 1 + (i * i + 3 * i) % 55, CASE WHEN i % 5 < 2 THEN 'S' || (i % 6) END, CASE WHEN i % 4 = 1 THEN 0 ELSE 1 END, 0.99 * (1 + (i * 13) % 14) FROM n;
INSERT INTO invoice_lines WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 520) SELECT i, 1 + (i * 3) % 180, 1 + (i * 11) % 140, CASE WHEN i % 13 = 0 THEN 1.99 ELSE 0.99 END, 1 + i % 2 FROM n;

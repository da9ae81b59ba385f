package attack

// statements are attacks by SQL, by section: each a statement that must show no canary and write nothing.
func statements() map[string][]string {
	return map[string][]string{
		"a hidden field in SQL": {
			`SELECT memo_xq FROM tickets`, `SELECT pass_xq FROM staff`, `SELECT "memo_xq" FROM tickets`, "SELECT `memo_xq` FROM tickets", `SELECT [memo_xq] FROM tickets`,
			`SELECT MEMO_XQ FROM tickets`, `SELECT t.memo_xq FROM tickets t`, `SELECT tickets.memo_xq FROM tickets`, `SELECT main.tickets.memo_xq FROM main.tickets`, `SELECT * FROM tickets`,
			`SELECT t.* FROM tickets t`, `SELECT * FROM tickets WHERE memo_xq LIKE 'cnry%'`, `SELECT id FROM tickets WHERE memo_xq IS NOT NULL`, `SELECT id FROM tickets WHERE substr(memo_xq, 1, 1) = 'c'`,
			`SELECT id FROM tickets WHERE length(memo_xq) > 3`, `SELECT id FROM tickets ORDER BY memo_xq`, `SELECT count(*) FROM tickets GROUP BY memo_xq`, `SELECT min(memo_xq) FROM tickets`,
			`SELECT max(pass_xq) FROM staff`, `SELECT group_concat(memo_xq) FROM tickets`, `SELECT string_agg(memo_xq, ',') FROM tickets`, `SELECT json_group_array(memo_xq) FROM tickets`, `SELECT count(DISTINCT memo_xq) FROM tickets`,
			`SELECT CASE WHEN memo_xq > 'a' THEN 1 ELSE 0 END FROM tickets`, `SELECT coalesce(memo_xq, 'x') FROM tickets`, `SELECT hex(memo_xq) FROM tickets`, `SELECT upper(memo_xq) FROM tickets`,
			`SELECT title || memo_xq FROM tickets`, `SELECT row_number() OVER (ORDER BY memo_xq) FROM tickets`, `SELECT lag(memo_xq) OVER (ORDER BY id) FROM tickets`, `SELECT id FROM tickets GROUP BY id HAVING max(memo_xq) > 'a'`,
			`SELECT a.id FROM tickets a JOIN tickets b ON a.memo_xq = b.memo_xq`, `SELECT a.id FROM tickets a JOIN tickets b USING (memo_xq)`, `SELECT a.id FROM tickets a NATURAL JOIN tickets b`,
			`SELECT (SELECT memo_xq FROM tickets LIMIT 1)`, `SELECT id FROM staff WHERE id IN (SELECT id FROM tickets WHERE memo_xq > 'a')`, `SELECT id FROM tickets t WHERE EXISTS (SELECT 1 FROM tickets u WHERE u.memo_xq = t.memo_xq)`,
			`WITH x AS (SELECT memo_xq AS m FROM tickets) SELECT m FROM x`, `WITH x AS (SELECT * FROM tickets) SELECT memo_xq FROM x`, `SELECT m FROM (SELECT memo_xq AS m FROM tickets)`, `SELECT title FROM tickets UNION SELECT memo_xq FROM tickets`,
			`SELECT title FROM tickets UNION ALL SELECT pass_xq FROM staff`, `SELECT title FROM tickets EXCEPT SELECT memo_xq FROM tickets`, `SELECT gist FROM digests`, `SELECT * FROM digests`, `SELECT id FROM digests WHERE gist LIKE 'cnry%'`,
			`SELECT id FROM digests ORDER BY gist`, `VALUES ((SELECT memo_xq FROM tickets LIMIT 1))`, `SELECT json_object('m', memo_xq) FROM tickets`, `SELECT iif(memo_xq LIKE 'cnry-memo-8%', 1, 0) FROM tickets`,
			`SELECT id FROM tickets WHERE (id, memo_xq) > (0, 'a')`, `SELECT typeof(memo_xq) FROM tickets`, `SELECT quote(pass_xq) FROM staff`, `SELECT abs(memo_xq) FROM tickets`, `SELECT CAST(memo_xq AS INTEGER) FROM tickets`,
		},
		"a masked field in SQL": {
			`SELECT salary_xq FROM staff`, `SELECT salary_xq + 0 FROM staff`, `SELECT sum(salary_xq) FROM staff`, `SELECT avg(salary_xq) FROM staff`, `SELECT max(salary_xq) FROM staff`, `SELECT id FROM staff WHERE salary_xq > 900000000`,
			`SELECT id FROM staff WHERE salary_xq BETWEEN 918273645 - 0 AND 2000000000`, `SELECT id FROM staff ORDER BY salary_xq`, `SELECT CAST(salary_xq AS TEXT) FROM staff`, `SELECT salary_xq * 1.0 FROM staff`, `SELECT -salary_xq FROM staff`,
			`SELECT coalesce(salary_xq, 0) FROM staff`, `SELECT s.salary_xq FROM tickets t JOIN staff s ON s.id = t.assignee`, `SELECT count(*) FROM staff GROUP BY salary_xq`, `SELECT printf('%d', salary_xq) FROM staff`,
			`SELECT x FROM (SELECT salary_xq AS x FROM staff)`, `WITH y AS (SELECT salary_xq x FROM staff) SELECT max(x) FROM y`, `SELECT title FROM tickets UNION ALL SELECT salary_xq FROM staff`,
		},
		"another tenant in SQL": {
			`SELECT title FROM tickets WHERE org = 'globex'`, `SELECT title FROM tickets WHERE id = 4`, `SELECT title FROM tickets WHERE 1 = 1 OR org = 'globex'`, `SELECT title FROM tickets WHERE id = 4 OR 1 = 1 --`,
			`SELECT title FROM tickets WHERE true) OR (true`, `SELECT title FROM tickets) UNION SELECT title FROM tickets --`, `SELECT name FROM staff`, `SELECT name FROM staff WHERE id > 2`, `SELECT text FROM comments`, `SELECT text FROM comments WHERE id = 3`,
			`SELECT s.name FROM staff s LEFT JOIN tickets t ON t.assignee = s.id`, `SELECT t.title FROM comments c JOIN tickets t ON t.id = c.ticket`, `SELECT t.title FROM tickets t RIGHT JOIN comments c ON 1 = 1`, `SELECT t.title FROM tickets t FULL JOIN comments c ON t.id = c.ticket`,
			`SELECT t.title, u.title FROM tickets t CROSS JOIN tickets u`, `SELECT max(title) FROM tickets`, `SELECT group_concat(title) FROM tickets`, `SELECT title FROM tickets ORDER BY (org = 'globex') DESC LIMIT 1`, `SELECT title FROM tickets LIMIT 10 OFFSET 3`,
			`SELECT title FROM tickets WHERE org IN ('acme', 'globex')`, `SELECT title FROM tickets WHERE org LIKE '%'`, `SELECT title FROM tickets WHERE org <> 'acme'`, `SELECT title FROM tickets WHERE NOT (org = 'acme')`, `SELECT body FROM tickets WHERE org IS NOT NULL`,
			`WITH tickets AS (SELECT * FROM tickets) SELECT title FROM tickets`, `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT title FROM r JOIN tickets ON id = n`, `SELECT (SELECT title FROM tickets WHERE id = 4)`,
			`SELECT title FROM "tickets" WHERE id = 4`, `SELECT title FROM main.tickets WHERE id = 4`, `SELECT title FROM app.tickets WHERE id = 4`, `SELECT title FROM digests WHERE id = 4`, `SELECT title FROM tickets t WHERE t.org = (SELECT max(org) FROM staff)`,
			`SELECT title FROM tickets AS OF SYSTEM TIME '-1s'`, `SELECT title FROM tickets INDEXED BY by_memo`, `SELECT title FROM tickets NOT INDEXED`, `SELECT title FROM tickets WHERE rowid = 4`, `SELECT title FROM tickets WHERE _rowid_ = 4`, `SELECT oid, title FROM tickets`,
		},
		"a hidden class in SQL": {
			`SELECT * FROM vault_xq`, `SELECT word FROM vault_xq`, `SELECT count(*) FROM vault_xq`, `SELECT 1 FROM vault_xq`, `SELECT * FROM "vault_xq"`, `SELECT * FROM main.vault_xq`, `SELECT * FROM app.vault_xq`, `SELECT * FROM VAULT_XQ`,
			`SELECT t.id FROM tickets t JOIN vault_xq v ON v.id = t.id`, `SELECT t.id FROM tickets t, vault_xq`, `SELECT id FROM tickets WHERE EXISTS (SELECT 1 FROM vault_xq)`, `SELECT id FROM tickets WHERE id IN (SELECT id FROM vault_xq)`, `SELECT (SELECT word FROM vault_xq)`,
			`SELECT title FROM tickets UNION SELECT word FROM vault_xq`, `WITH v AS (SELECT * FROM vault_xq) SELECT * FROM v`, `TABLE vault_xq`, `SELECT * FROM (vault_xq)`, `SELECT vault_xq.word FROM tickets`, `SELECT * FROM vault_x`, `SELECT * FROM vault`, `SELECT * FROM vaultxq`,
			`SELECT memo FROM tickets`, `SELECT memo_x FROM tickets`, `SELECT pass FROM staff`, `SELECT nothing FROM staff`,
		},
	}
}

// otherStatements are the sections of statements that are not about single records.
func otherStatements() map[string][]string {
	return map[string][]string{
		"the catalogue in SQL": {
			`SELECT * FROM sqlite_master`, `SELECT sql FROM sqlite_schema`, `SELECT name FROM sqlite_temp_master`, `SELECT * FROM main.sqlite_master`, `SELECT * FROM "sqlite_master"`, `SELECT * FROM sqlite_sequence`, `SELECT * FROM sqlite_stat1`, `PRAGMA table_info(tickets)`,
			`PRAGMA table_list`, `SELECT * FROM pragma_table_info('tickets')`, `SELECT * FROM pragma_table_list`, `SELECT * FROM pragma_database_list`, `SELECT * FROM dbstat`, `SELECT * FROM information_schema.tables`, `SELECT * FROM information_schema.columns`,
			`SELECT * FROM pg_catalog.pg_class`, `SELECT * FROM pg_tables`, `SHOW TABLES`, `DESCRIBE tickets`, `EXPLAIN SELECT * FROM tickets`, `EXPLAIN QUERY PLAN SELECT * FROM tickets`, `SELECT sqlite_version()`, `SELECT * FROM sqlite_dbpage`, `SELECT * FROM json_each('[1]')`,
			`SELECT * FROM generate_series(1, 3)`, `SELECT load_extension('x')`, `SELECT readfile('/etc/passwd')`, `SELECT writefile('x', 'y')`, `SELECT fts3_tokenizer('x')`, `SELECT current_user`, `SELECT version()`, `SELECT pg_read_file('/etc/passwd')`,
		},
		writes: {
			`INSERT INTO tickets (id, org) VALUES (99, 'acme')`, `UPDATE tickets SET title = 'x'`, `DELETE FROM tickets`, `DROP TABLE comments`, `CREATE TABLE z (a)`, `ALTER TABLE tickets ADD COLUMN z TEXT`, `CREATE INDEX z ON tickets (title)`, `REPLACE INTO tickets (id, org) VALUES (1, 'x')`,
			`SELECT 1; DELETE FROM tickets`, `SELECT 1; DROP TABLE comments; --`, `WITH x AS (DELETE FROM tickets RETURNING id) SELECT * FROM x`, `WITH x AS (SELECT 1) DELETE FROM tickets`, `WITH x AS (SELECT 1) INSERT INTO tickets (id, org) SELECT 98, 'acme'`, `SELECT * INTO z FROM tickets`,
			`ATTACH DATABASE 'other.db' AS o`, `DETACH DATABASE main`, `VACUUM INTO 'copy.db'`, `VACUUM`, `REINDEX`, `ANALYZE`, `PRAGMA user_version = 7`, `PRAGMA writable_schema = 1`, `PRAGMA journal_mode = DELETE`, `BEGIN; DELETE FROM tickets; COMMIT`, `SAVEPOINT a`, `CREATE TRIGGER z AFTER INSERT ON tickets BEGIN SELECT 1; END`,
			`CREATE VIEW z AS SELECT * FROM vault_xq`, `CREATE TEMP TABLE z AS SELECT * FROM vault_xq`, `TRUNCATE tickets`, `MERGE INTO tickets USING staff ON 1 = 1 WHEN MATCHED THEN DELETE`, `COPY tickets TO '/tmp/x'`, `GRANT ALL ON tickets TO x`, `CALL x()`, `SET x = 1`, `/* a */ DELETE /* b */ FROM tickets`,
			"DELETE\nFROM\ttickets", `delete from tickets where (select 1)`, `INSERT INTO tickets DEFAULT VALUES`, `UPDATE OR REPLACE tickets SET org = 'acme' WHERE id = 4`, `INSERT OR IGNORE INTO vault_xq VALUES (9, 'x')`, `SELECT 1 FROM tickets FOR UPDATE`, `EXPLAIN DELETE FROM tickets`,
		},
		"SQL that isn't read in one way": {
			`SELECT 'a' 'b' FROM tickets`, `SELECT /* */ memo_xq FROM tickets`, `SELECT memo_xq/**/FROM/**/tickets`, `SELECT id FROM tickets -- ; SELECT memo_xq`, `SELECT id FROM tickets /* unclosed`, `SELECT "id FROM tickets`, `SELECT 'id FROM tickets`, `SELECT id FROM tickets;;`, `;`, ``, ` `,
			"SELECT id\x00, memo_xq FROM tickets", "SELECT id FROM tickets WHERE title = '\u02bc OR 1=1 --'", "SELECT\u00a0memo_xq\u00a0FROM\u00a0tickets", "SELECT id FROM ticket\u017f", `SELECT id FROM tickets WHERE title = 'a\' OR 1=1 --'`, `SELECT id FROM tickets WHERE title = "memo_xq"`, `SELECT x'63'||memo_xq FROM tickets`,
			`SELECT $1 FROM tickets`, `SELECT ? FROM tickets`, `SELECT :memo_xq FROM tickets`, `SELECT @memo_xq FROM tickets`, `SELECT {fn now()}`, `SELECT /*!50000 memo_xq */ FROM tickets`, `SELECT id FROM tickets WHERE 0x1`, "\ufeffSELECT memo_xq FROM tickets", `SELECT E'\x41' FROM tickets`, `SELECT $$a$$ FROM tickets`, `((((SELECT memo_xq FROM tickets))))`,
		},
		"work without an end in SQL": {
			`WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r`, `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT n FROM r`, `SELECT count(*) FROM tickets a, tickets b, tickets c, tickets d, tickets e, tickets f, tickets g, tickets h, tickets i, tickets j`,
			`SELECT printf('%1000000000d', 1)`, `SELECT replace(hex(zeroblob(100000000)), '0', 'aaaaaaaaaa')`, `SELECT randomblob(1000000000)`, `SELECT repeat('a', 1000000000)`, `SELECT lpad('a', 1000000000, 'b')`, `SELECT title FROM tickets WHERE title LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'`,
			`SELECT title FROM tickets WHERE title GLOB '*a*a*a*a*a*a*a*a*a*a*a*b'`, `SELECT title FROM tickets WHERE title REGEXP '(a+)+b'`, `SELECT group_concat(a.title) FROM tickets a, tickets b, tickets c, tickets d`, `SELECT 9223372036854775807 + 1`, `SELECT 1 / 0`, `SELECT 1e999999`,
		},
	}
}

-- change_class has the records of changes that wait, too: "source.Class\u001fkey".
INSERT OR IGNORE INTO change_class (class, state, id)
SELECT (e.value ->> 'class') || char(31) || (e.value ->> 'key'), c.state, c.id FROM change AS c, json_each(c.body, '$.effects') AS e
WHERE c.state IN ('pending', 'changes_requested', 'approved', 'applying', 'stale', 'unknown') AND e.value ->> 'key' <> '';

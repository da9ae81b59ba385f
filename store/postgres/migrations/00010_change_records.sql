-- change_class has the records of changes that wait, too: "source.Class\u001fkey". A body with the character 0 can't be read as JSON here.
INSERT INTO bailiwick.change_class (class, state, id)
SELECT convert_to((e ->> 'class') || chr(31) || (e ->> 'key'), 'UTF8'), c.state, c.id FROM bailiwick.change AS c, json_array_elements(CASE json_typeof(c.body::json -> 'effects') WHEN 'array' THEN c.body::json -> 'effects' ELSE '[]' END) AS e
WHERE c.state IN ('pending', 'changes_requested', 'approved', 'applying', 'stale', 'unknown') AND position('\u0000' IN c.body) = 0 AND e ->> 'key' <> ''
ON CONFLICT DO NOTHING

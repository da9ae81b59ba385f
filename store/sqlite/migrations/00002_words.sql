-- The words by which changes are found. change.search has them as JSON: an object from the name of a place, such as
-- "=tracker.issues" with the separator 0x1F and "title", to words. Triggers put them into these tables. Words of earlier
-- previews stay. A program that opens the store writes the words of older changes.

CREATE TABLE change_place (place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE change_word (
  word  TEXT NOT NULL,
  place INTEGER NOT NULL,
  id    TEXT NOT NULL,
  PRIMARY KEY (word, place, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX change_found ON change (id, state);

CREATE INDEX change_wordless ON change (id) WHERE substr(search, 1, 1) <> '{';

CREATE TRIGGER change_words_of_new AFTER INSERT ON change WHEN substr(NEW.search, 1, 1) = '{' BEGIN
  INSERT OR IGNORE INTO change_place (name) SELECT p.key FROM json_each(NEW.search) AS p;
  INSERT OR IGNORE INTO change_word SELECT w.value, l.place, NEW.id
  FROM json_each(NEW.search) AS p JOIN change_place AS l ON l.name = p.key JOIN json_each(p.value) AS w;
END;

CREATE TRIGGER change_words_of_next AFTER UPDATE OF search ON change WHEN substr(NEW.search, 1, 1) = '{' AND NEW.search <> OLD.search BEGIN
  INSERT OR IGNORE INTO change_place (name) SELECT p.key FROM json_each(NEW.search) AS p;
  INSERT OR IGNORE INTO change_word SELECT w.value, l.place, NEW.id
  FROM json_each(NEW.search) AS p JOIN change_place AS l ON l.name = p.key JOIN json_each(p.value) AS w;
END;

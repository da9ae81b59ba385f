-- The words by which changes are found. change.search has them as JSON: an object from the name of a place, such as
-- "=tracker.issues" with the separator 0x1F and "title", to words. A trigger puts them into these tables. Words of
-- earlier previews stay. A program that opens the store writes the words of older changes.

CREATE TABLE bailiwick.change_place (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE);

CREATE TABLE bailiwick.change_word (
  word  text COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  id    text COLLATE "C" NOT NULL,
  PRIMARY KEY (word, place, id)
);

CREATE INDEX change_found ON bailiwick.change (id, state);

CREATE INDEX change_wordless ON bailiwick.change (id) WHERE left(search, 1) <> '{';

CREATE FUNCTION bailiwick.change_words() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF left(NEW.search, 1) <> '{' OR TG_OP = 'UPDATE' AND NEW.search = OLD.search THEN
    RETURN NULL;
  END IF;
  INSERT INTO bailiwick.change_place (name) SELECT p.key FROM jsonb_object_keys(NEW.search::jsonb) AS p(key)
  WHERE NOT EXISTS (SELECT 1 FROM bailiwick.change_place AS l WHERE l.name = p.key) ORDER BY 1 ON CONFLICT DO NOTHING;
  INSERT INTO bailiwick.change_word SELECT w.value, l.place, NEW.id
  FROM jsonb_each(NEW.search::jsonb) AS p JOIN bailiwick.change_place AS l ON l.name = p.key CROSS JOIN jsonb_array_elements_text(p.value) AS w(value)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER change_words AFTER INSERT OR UPDATE OF search ON bailiwick.change FOR EACH ROW EXECUTE FUNCTION bailiwick.change_words();

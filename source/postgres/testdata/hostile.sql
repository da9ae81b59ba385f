-- A schema that a session of the hostile role finds before pg_catalog. Whatever a statement finds in it by mistake fails.
CREATE SCHEMA hostile;

DO $make$
DECLARE
	x record;
	fails text := 'BEGIN RAISE EXCEPTION ''a function of the schema hostile was called''; END';
	common oid[] := ARRAY['text', 'varchar', 'bpchar', 'int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'bool', 'jsonb', 'json', 'timestamp',
		'timestamptz', 'date', 'time', 'interval', 'bytea', 'uuid', 'inet', 'money', 'regconfig', 'tsvector', 'tsquery']::regtype[]::oid[];
BEGIN
	FOR x IN SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS args, pg_get_function_result(p.oid) AS result
		FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset AND p.provariadic = 0
			AND p.proargtypes::oid[] <@ common AND p.prorettype = ANY (common)
	LOOP
		EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', x.proname, x.args, x.result, fails);
	END LOOP;
	-- Operators of the same types as PostgreSQL's, and of types for which PostgreSQL converts.
	FOR x IN SELECT DISTINCT o.oprname AS name, l.t AS l, r.t AS r, o.oprresult::regtype AS result
		FROM pg_operator o
		CROSS JOIN LATERAL (SELECT o.oprleft::regtype AS t UNION SELECT 'varchar'::regtype WHERE o.oprleft = 'text'::regtype) AS l
		CROSS JOIN LATERAL (SELECT o.oprright::regtype AS t UNION SELECT 'varchar'::regtype WHERE o.oprright = 'text'::regtype) AS r
		WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b' AND o.oprleft = ANY (common) AND o.oprright = ANY (common) AND o.oprresult = ANY (common)
	LOOP
		EXECUTE format('CREATE OR REPLACE FUNCTION hostile.returns_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS %L', x.result::oid, x.l, x.r, x.result, fails);
		EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.returns_%s)', x.name, x.l, x.r, x.result::oid);
	END LOOP;
END
$make$;

CREATE TABLE hostile.bailiwick_applied (change_id text, digest text, fence bigint, receipt text, applied_at timestamptz);
CREATE DOMAIN hostile.text AS pg_catalog.int4;
CREATE DOMAIN hostile.int8 AS pg_catalog.bool;
CREATE DOMAIN hostile.numeric AS pg_catalog.bool;
CREATE DOMAIN hostile.float8 AS pg_catalog.bool;
CREATE DOMAIN hostile.jsonb AS pg_catalog.bool;
CREATE DOMAIN hostile.uuid AS pg_catalog.bool;

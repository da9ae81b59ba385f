package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
)

// selectDefinitions reads the code of schemas: views, triggers, rules and functions. It needs a search path of only
// pg_catalog, with which PostgreSQL writes each name with its schema. It omits functions of extensions.
const selectDefinitions = `
SELECT n.nspname::text, 'view', c.relname::text, pg_get_viewdef(c.oid) || coalesce(' ' || array_to_string(c.reloptions, ','), '')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY ($1::name[]) AND c.relkind IN ('v', 'm')
UNION ALL
SELECT n.nspname::text, 'trigger', c.relname::text, pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY ($1::name[]) AND NOT t.tgisinternal
UNION ALL
SELECT n.nspname::text, 'rule', c.relname::text, pg_get_ruledef(r.oid) || ' ' || r.ev_enabled::text
FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY ($1::name[]) AND r.rulename <> '_RETURN'
UNION ALL
SELECT n.nspname::text, 'function', p.proname::text, pg_get_functiondef(p.oid)
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = ANY ($1::name[]) AND p.prokind <> 'a' AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend e
	WHERE e.classid = 'pg_catalog.pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e')`

// definitions returns the code of schemas, by schema name.
func (d *division) definitions(ctx context.Context, names []string) (map[string]sqldriver.RoutineCode, error) {
	type row struct {
		Space, Kind, Name string
		Text              *string // nil if the object was dropped meanwhile
	}
	rows, err := collect[row](ctx, d.conn, selectDefinitions, names)
	if err != nil {
		return nil, fmt.Errorf("describe %s: views, triggers and functions: %w", d.name, withGrantHint(err))
	}
	texts := map[string]map[sqldriver.DefinedObject][]string{}
	for _, x := range rows {
		if x.Text == nil {
			continue
		}
		if texts[x.Space] == nil {
			texts[x.Space] = map[sqldriver.DefinedObject][]string{}
		}
		at := sqldriver.DefinedObject{Kind: x.Kind, Name: x.Name}
		texts[x.Space][at] = append(texts[x.Space][at], *x.Text)
	}
	out := map[string]sqldriver.RoutineCode{}
	for space, of := range texts {
		out[space] = sqldriver.RoutineCodeOf(of, space)
	}
	return out, nil
}

// selectCascades reads the foreign keys by which a write to a schema also changes records of another schema.
const selectCascades = `
SELECT n.nspname::text, k.conname::text, own.nspname::text, f.relname::text
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class t ON t.oid = k.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
JOIN pg_catalog.pg_class f ON f.oid = k.conrelid JOIN pg_catalog.pg_namespace own ON own.oid = f.relnamespace
WHERE k.contype = 'f' AND n.nspname = ANY ($1::name[]) AND own.oid <> n.oid
	AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
ORDER BY 1, 3, 4, 2`

// cascades returns the schemas that can't be served because writes to them change records of other schemas. It maps
// the schema's name to the reason.
func (d *division) cascades(ctx context.Context, names []string) (map[string]string, error) {
	type row struct{ Space, Constraint, From, Table string }
	rows, err := collect[row](ctx, d.conn, selectCascades, names)
	if err != nil {
		return nil, fmt.Errorf("describe %s: foreign keys between schemas: %w", d.name, withGrantHint(err))
	}
	out := map[string]string{}
	for _, x := range slices.Backward(rows) {
		out[x.Space] = fmt.Sprintf("schema %q is left out: by the foreign key %s of %s.%s, a write in this schema also deletes or changes records of another one. Drop the foreign key, or declare it with NO ACTION",
			x.Space, x.Constraint, x.From, x.Table)
	}
	return out, nil
}

// serveTemplate records that the template's own schema can be served too, or why it can't.
func (d *division) serveTemplate(ctx context.Context) error {
	reasons, err := d.cascades(ctx, []string{d.template})
	if err != nil {
		return err
	}
	if why := reasons[d.template]; why != "" {
		d.left = append(d.left, why)
		return nil
	}
	d.like[d.template] = spaceOf(d.template)
	return nil
}

package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// mostTables is the maximum number of tenants' tables that are described at once. So the description of many schemas
// needs little memory.
const mostTables = 2000

// Divide implements source.Divided.
func (s *Source) Divide(template string) { s.template = template }

// A division is one description of a database with one schema per tenant.
type division struct {
	*Source
	conn  querier
	found map[string][]place // the tables that can be classes, by schema name

	like schema.Spaces // the schemas that match the template
	left []string      // how the other schemas differ from it
}

// describeTenantSchemas describes a database with one schema per tenant. A schema is compared with the template if it
// has one of the template's tables. The gateway keeps the last description of the template, and uses it even if the
// template no longer exists.
func (s *Source) describeTenantSchemas(ctx context.Context, conn querier) (classes []schema.Class, warnings []string, err error) {
	d := &division{Source: s, conn: conn, like: schema.Spaces{}}
	if d.found, err = d.places(ctx); err != nil {
		return nil, nil, err
	}
	template, there := s.known.Load(), d.found[s.template] != nil
	if there || template == nil {
		if template, warnings, err = d.model(ctx); err != nil {
			return nil, nil, err
		}
		s.known.Store(template)
		if err := d.serveTemplate(ctx); err != nil {
			return nil, nil, err
		}
	} else {
		warnings = []string{fmt.Sprintf("the schema %q, which the key template names, is gone: others are compared with it as it was. Name another one before the next start", s.template)}
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(d.found)), func(name string) bool {
		return name == s.template || !slices.ContainsFunc(d.found[name], func(p place) bool { return template.Table(p.Table) })
	})
	for len(names) > 0 {
		n, tables := 0, 0
		for n < len(names) && (n == 0 || tables+len(d.found[names[n]]) <= mostTables) {
			tables += len(d.found[names[n]])
			n++
		}
		if err := d.compare(ctx, template, names[:n]); err != nil {
			return nil, nil, err
		}
		names = names[n:]
	}
	s.tenants.Store(&d.like)
	s.left.Store(&d.left)
	classes = slices.Clone(template.Classes)
	for i := range classes {
		classes[i].Space, classes[i].Spaces = schema.Unbound, d.like
	}
	return classes, append(warnings, d.left...), nil
}

// LeftOut implements source.Partial. It returns the schemas that differ from the template.
func (s *Source) LeftOut() []string {
	if left := s.left.Load(); left != nil {
		return *left
	}
	return nil
}

// model describes the template.
func (d *division) model(ctx context.Context) (*sqldriver.SchemaTemplate, []string, error) {
	if d.found[d.template] == nil {
		names := slices.Sorted(maps.Keys(d.found))
		return nil, nil, &source.NoTemplate{Detail: fmt.Sprintf("source %s: there is no schema %q with tables that the account may read. The key template names the schema that those of the tenants are compared with. The first schemas with tables are %q",
			d.name, d.template, names[:min(len(names), 8)])}
	}
	r := d.reader(d.found[d.template])
	classes, warnings, err := r.readClasses(ctx)
	if err != nil {
		return nil, nil, err
	}
	sqldriver.OwnClasses(classes, d.template)
	code, err := d.definitions(ctx, []string{d.template})
	if err != nil {
		return nil, nil, err
	}
	return &sqldriver.SchemaTemplate{Name: d.template, Classes: classes, Code: code[d.template]}, warnings, nil
}

// compare describes some schemas. It records which of them match the template, and how the others differ.
func (d *division) compare(ctx context.Context, t *sqldriver.SchemaTemplate, names []string) error {
	var all []place
	for _, name := range names {
		all = append(all, slices.DeleteFunc(slices.Clone(d.found[name]), func(p place) bool { return !t.Table(p.Table) })...)
	}
	lists, err := d.reader(all).bySpace(ctx)
	if err != nil {
		return err
	}
	code, err := d.definitions(ctx, names)
	if err != nil {
		return err
	}
	cascades, err := d.cascades(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		classes := lists[spaceOf(name)]
		sqldriver.OwnClasses(classes, name)
		if why := t.Difference(classes, code[name]); why != "" {
			d.left = append(d.left, fmt.Sprintf("schema %q differs from the template %s and is left out: %s", name, t.Name, why))
			continue
		}
		if why := cascades[name]; why != "" {
			d.left = append(d.left, why)
			continue
		}
		d.like[name] = spaceOf(name)
	}
	return nil
}

// A place is a found table in one of the schemas.
type place struct {
	OID uint32
	class
}

// places returns the tables that can be classes, by schema name.
func (d *division) places(ctx context.Context) (map[string][]place, error) {
	r := d.reader(nil)
	if err := r.step(ctx, "classes", r.classes); err != nil {
		return nil, err
	}
	out := map[string][]place{}
	for _, oid := range r.oids {
		c := r.byOID[oid]
		out[schemaOrPublic(c.Space)] = append(out[schemaOrPublic(c.Space)], place{oid, *c})
	}
	return out, nil
}

// reader returns a reader of the tables at places. Its classes have the names that tables of the default schema would
// have.
func (d *division) reader(at []place) *reader {
	r := &reader{conn: d.conn, source: d.name, choice: func(_, table string) (string, bool) { return d.choice.Of("", table) }, byOID: map[uint32]*class{}}
	for i := range at {
		r.oids, r.byOID[at[i].OID] = append(r.oids, at[i].OID), &at[i].class
	}
	return r
}

// spaceOf returns the Space of classes in the schema called name.
func spaceOf(name string) string {
	if name == "public" {
		return ""
	}
	return name
}

// bySpace returns the classes of several schemas, by Space. It drops the warnings, because they repeat the warnings
// of the template.
func (r *reader) bySpace(ctx context.Context) (map[string][]schema.Class, error) {
	if err := r.rest(ctx); err != nil {
		return nil, err
	}
	oids := map[string][]uint32{}
	for _, oid := range r.oids {
		space := r.byOID[oid].Space
		oids[space] = append(oids[space], oid)
	}
	var all []schema.Class
	for _, of := range oids {
		classes, _ := sqldriver.SettleClasses(r.source, r.list(of), r.choice)
		all = append(all, classes...)
	}
	if err := r.step(ctx, "full text", func(ctx context.Context) error { return fullText(ctx, r.conn, all, r.oids) }); err != nil {
		return nil, err
	}
	out := map[string][]schema.Class{}
	for _, c := range all {
		out[c.Space] = append(out[c.Space], c)
	}
	return out, nil
}

// pathIn returns the search path of the application's own code in the schema of a tenant. The path contains that
// schema, and the role's path without other tenants' schemas. So a name that the schema doesn't have is never found
// in another tenant's schema.
func (s *Source) pathIn(space, role string) string {
	path := []string{"pg_catalog", quoteName(space)}
	spaces := s.tenants.Load()
	for _, name := range strings.Split(role, ",") {
		name = strings.TrimSpace(name)
		plain := strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`)
		if plain == "" || plain == "$user" || plain == s.template {
			continue
		}
		if spaces != nil {
			if _, tenant := (*spaces)[plain]; tenant {
				continue
			}
		}
		path = append(path, quoteName(plain))
	}
	return strings.Join(append(path, "pg_temp"), ", ")
}

// quoteName returns a name as an identifier.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

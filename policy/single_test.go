package policy

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestTenantOfAnyType checks that a field which may hold lists isn't the tenant of a record, nor the pointer to it. A field whose values
// are scalars of any type can be one.
func TestTenantOfAnyType(t *testing.T) {
	classes := func(atomic bool) []schema.Class {
		org := schema.Field{Name: "org", Type: schema.Any, Atomic: atomic}
		of := schema.Field{Name: "of", Type: schema.Any, Atomic: atomic}
		return []schema.Class{{Source: "app", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, org}},
			{Source: "app", Name: "parts", Table: "parts", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, of},
				Relations: []schema.Relation{{Fields: []string{"of"}, Target: "notes", TargetFields: []string{"id"}}}}}
	}
	rules := Rules{Classes: map[string]ClassRule{"notes": {Tenant: &TenantRule{Field: "org"}}, "parts": {Tenant: &TenantRule{Through: "of"}}}}
	if _, err := New(rules, classes(true)); err != nil {
		t.Error(err)
	}
	_, err := New(rules, classes(false))
	for _, want := range []string{"classes.notes: tenant.field: org is of type any. A value can be a list there", "classes.parts: tenant.through: of is of type any", oneType} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	rules.Classes = map[string]ClassRule{"notes": {Tenant: &TenantRule{Field: "org", Contains: true}}}
	if _, err := New(rules, classes(false)); err == nil || !strings.Contains(err.Error(), "tenant.contains: org is of type any, not a list. Take contains out. "+oneType) {
		t.Error(err)
	}
}

package parse

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// databaseTables returns the tables of Parse's database by name.
func (s *Source) databaseTables(ctx context.Context) (map[string]*schema.Class, error) {
	tables, _, err := s.direct.Describe(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]*schema.Class{}
	for i := range tables {
		if tables[i].Space == "" {
			out[tables[i].Table] = &tables[i]
		}
	}
	return out, nil
}

// setColumnTypes gives the fields of c the types of their columns, and adds the indexes. It returns warnings about
// fields that the table doesn't have. In Parse Server's tables, columns have the names of fields, and a pointer
// contains only the id.
func setColumnTypes(c *schema.Class, table *schema.Class) []string {
	var warnings []string
	kept := c.Fields[:0]
	for _, f := range c.Fields {
		column := table.Field(f.Name)
		if column == nil {
			if f.Name == readers {
				c.Guard.Readers = "" // an account that can't read the access lists would see every record
				warnings = append(warnings, fmt.Sprintf("class %s is left out: the account may not read its column %s", c.Name, readers))
				c.Guard.Grants[schema.Find], c.Guard.Grants[schema.Get], c.Guard.Grants[schema.Count] = schema.Grant{}, schema.Grant{}, schema.Grant{}
				continue
			}
			warnings = append(warnings, fmt.Sprintf("field %s.%s is left out: the table has no such column, or the account may not read it", c.Name, f.Name))
			continue
		}
		given := f
		f = *column
		f.Generated, f.Default, f.Required = given.Generated, given.Default, given.Required
		if given.Type == schema.Array && column.Native == "jsonb" {
			f.Type = schema.JSON // a list in a JSON column
		}
		kept = append(kept, f)
	}
	c.Fields = kept
	c.Table, c.Indexes, c.Text = table.Table, table.Indexes, table.Text
	c.Relations = slices.DeleteFunc(c.Relations, func(r schema.Relation) bool { return c.Field(r.Fields[0]) == nil })
	return warnings
}

package schema

// Spaces are the schemas of a source with one schema per tenant. They map the name of each schema to the Space of its
// classes. A class with Spaces represents one table in each schema. Its Space is Unbound until In selects a schema.
type Spaces map[string]string

// Unbound is the Space of a class that represents a table in several schemas. No database can have a schema with this
// name, so a statement with such a class fails.
const Unbound = "\x00"

// In returns a copy of c for its table in one schema, and whether c has that schema. The copy shares the fields of c.
func (c *Class) In(space string) (*Class, bool) {
	at, ok := c.Spaces[space]
	if !ok {
		return nil, false
	}
	bound := *c
	bound.Space = at
	return &bound, true
}

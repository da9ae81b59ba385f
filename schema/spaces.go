package schema

// Spaces are the schemas of a source with one schema per tenant: by the name of each schema, the Space of its classes. A class
// with Spaces stands for one table in each of them. Its Space is Unbound, until In names one.
type Spaces map[string]string

// Unbound is the Space of a class that stands for a table in several schemas. No database can have a schema of this name, so
// a statement that names such a class fails.
const Unbound = "\x00"

// In returns a copy of c for its table in one schema, and whether that is one of its Spaces. The copy shares the fields of c.
func (c *Class) In(space string) (*Class, bool) {
	at, ok := c.Spaces[space]
	if !ok {
		return nil, false
	}
	bound := *c
	bound.Space = at
	return &bound, true
}

package config

import "github.com/bailiwick-dev/bailiwick/internal/yamlconf"

// A Collection declares facts about a collection that a MongoDB server doesn't report.
type Collection struct {
	Fields map[string]string // BSON types by field name, as $type names them
	Index  string            // the name of an Atlas Search index, or ""
	Search []string          // the fields that the index contains
}

// collections returns the shape of the declarations of a source's collections.
func (s *Source) collections() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "collection", Of: func(name string) (yamlconf.Shape, func()) {
		c := Collection{Fields: map[string]string{}}
		fields := yamlconf.Each(yamlconf.Table{Names: "field", Of: func(field string) (yamlconf.Shape, func()) {
			var t string
			return yamlconf.OneOf(&t, "string", "int", "long", "double", "decimal", "bool", "date", "objectId", "uuid", "binData", "object", "array"), func() { c.Fields[field] = t }
		}})
		search := yamlconf.Object([]yamlconf.Key{
			{Name: "index", Doc: "Its name", Must: true, Shape: yamlconf.Words(&c.Index)},
			{Name: "fields", Doc: "The fields of texts that it searches", Must: true, Shape: yamlconf.List(&c.Search, "field names", nil)},
		}, nil)
		keys := []yamlconf.Key{
			{Name: "fields", Doc: "By field: its BSON type. It holds in place of what a sample or a validator shows, and for fields that neither shows", Shape: fields},
			{Name: "search", Doc: "An index of Atlas Search, which text_search then uses", Shape: search},
		}
		return yamlconf.Object(keys, yamlconf.NotEmpty), func() {
			if s.Collections == nil {
				s.Collections = map[string]Collection{}
			}
			s.Collections[name] = c
		}
	}})
}

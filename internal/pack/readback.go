package pack

import (
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// ReadReadBack returns the shape of the rules that determine how calls with a lost response are settled.
func ReadReadBack(into *[]calls.ReadBack) yamlconf.Shape {
	return yamlconf.Items("rules", func(int) (yamlconf.Shape, func()) {
		var rule calls.ReadBack
		places := func(to *map[string]string) yamlconf.Shape {
			return yamlconf.Each(yamlconf.Table{Names: "name", Of: func(name string) (yamlconf.Shape, func()) {
				var place string
				return yamlconf.Words(&place), func() {
					if *to == nil {
						*to = map[string]string{}
					}
					(*to)[name] = place
				}
			}})
		}
		return yamlconf.Object([]yamlconf.Key{
			{Name: "operations", Doc: "The calls: operation ids, or methods and paths", Must: true, Shape: yamlconf.List(&rule.Operations, "operations", nil)},
			{Name: "by", Doc: "The id of the operation that lists what such calls make. Only its first page is read", Must: true, Shape: yamlconf.Words(&rule.By)},
			{Name: "path", Doc: "Its path parameters, from the call or as they are: {team: path.team, kind: =main}", Shape: places(&rule.Path)},
			{Name: "query", Doc: "Its query parameters, from the call or as they are: {name: body.name, state: =open}", Shape: places(&rule.Query)},
			{Name: "match", Doc: "The fields that together tell what a call made, from the call: {name: body.name}. One record more after the call than before is its outcome", Must: true, Shape: places(&rule.Match)},
		}, nil), func() { *into = append(*into, rule) }
	})
}

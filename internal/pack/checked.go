package pack

import (
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// ReadAgainst returns the shape of the class that describes arguments. It is a name or an object.
func ReadAgainst(into *writes.Declaration) yamlconf.Shape {
	fields := yamlconf.Each(yamlconf.Table{Names: "argument", Of: func(argument string) (yamlconf.Shape, func()) {
		var field string
		return yamlconf.Words(&field), func() {
			if into.Fields == nil {
				into.Fields = map[string]string{}
			}
			into.Fields[argument] = field
		}
	}})
	return yamlconf.Either(yamlconf.Words(&into.Class), yamlconf.Object([]yamlconf.Key{
		{Name: "class", Doc: "The class", Must: true, Shape: yamlconf.Words(&into.Class)},
		{Name: "fields", Doc: "By argument: the field that it is for, where that is called otherwise", Shape: fields},
		{Name: "record", Doc: "new: what the class needs must be given. change: only what is given is checked. Default new for do: create, else change",
			Shape: yamlconf.OneOf(&into.Record, writes.CheckNew, writes.CheckOnChange)},
	}, nil))
}

// ReadRequirements returns the shape of a list of requirements. The argument that is the help text for their
// expressions.
func ReadRequirements(into *[]expression.Requirement, that string) yamlconf.Shape {
	return yamlconf.Items("requirements", func(int) (yamlconf.Shape, func()) {
		var r expression.Requirement
		return yamlconf.Object([]yamlconf.Key{
			{Name: "that", Doc: that, Must: true, Shape: yamlconf.Words(&r.That)},
			{Name: "message", Doc: "The message to the caller when it is false", Must: true, Shape: yamlconf.Words(&r.Message)},
			{Name: "field", Doc: "The argument that it is about", Shape: yamlconf.Words(&r.Field)},
		}, nil), func() { *into = append(*into, r) }
	})
}

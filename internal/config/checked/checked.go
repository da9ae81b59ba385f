// Package checked reads the key check_against: the class that describes what arguments are for.
//
// It is shared by package config and package pack. It only checks the syntax; package policy/against checks that the
// class exists.
package checked

import (
	"github.com/bailiwick-dev/bailiwick/internal/rules/schemacheck"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// Against is the shape of the class that describes arguments: its name, or an object.
func Against(into *schemacheck.Declaration) yamlconf.Shape {
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
		{Name: "record", Doc: "new: what the class needs must be given; change: only what is given is checked. Default new for do: create, else change",
			Shape: yamlconf.OneOf(&into.Record, schemacheck.New, schemacheck.Change)},
	}, nil))
}

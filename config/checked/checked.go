// Package checked reads check_against: the class that describes what arguments are for.
//
// It stands below package config and package pack, whose declarations both have the key. It refuses what strict refuses;
// whether there is such a class is said by package policy/against.
package checked

import (
	"github.com/bailiwick-dev/bailiwick/config/strict"
	"github.com/bailiwick-dev/bailiwick/policy/against"
)

// Against is the class that describes arguments: its name, or an object.
func Against(into *against.Declaration) strict.Shape {
	fields := strict.Each(strict.Table{Names: "argument", Of: func(argument string) (strict.Shape, func()) {
		var field string
		return strict.Words(&field), func() {
			if into.Fields == nil {
				into.Fields = map[string]string{}
			}
			into.Fields[argument] = field
		}
	}})
	return strict.Either(strict.Words(&into.Class), strict.Object([]strict.Key{
		{Name: "class", Doc: "The class", Must: true, Shape: strict.Words(&into.Class)},
		{Name: "fields", Doc: "By argument: the field that it is for, where that is called otherwise", Shape: fields},
		{Name: "record", Doc: "new: what the class needs must be given; change: only what is given is checked. Default new for do: create, else change",
			Shape: strict.OneOf(&into.Record, against.New, against.Change)},
	}, nil))
}

package sqldriver

import "github.com/bailiwick-dev/bailiwick/schema"

// ReferenceRule returns the rule of a foreign key from its text in a catalogue. For an unknown text it returns
// schema.Refuse.
func ReferenceRule(text string) schema.Rule {
	switch text {
	case "CASCADE", "c":
		return schema.Cascade
	case "SET NULL", "SET DEFAULT", "n", "d":
		return schema.SetNull
	}
	return schema.Refuse
}

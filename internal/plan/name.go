package plan

// A NamePart is a part of the short name of a record, such as PAY-17. It is a text, a field, or a field of the record
// that a pointer leads to.
type NamePart struct {
	Text  string // if Field is ""
	Field string // of the record
	Of    string // if Field is a pointer: the field of its target. Otherwise ""
}

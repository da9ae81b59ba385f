package schema

// A Form is the form in which a source stores the values of a field whose type the owner's rules declare. The rules use
// its name.
type Form string

// The forms. A value that isn't in the declared form is null.
const (
	EpochSeconds Form = "epoch_s"  // a Date as an integer: seconds since 1970
	EpochMillis  Form = "epoch_ms" // a Date as an integer: milliseconds since 1970
	DateText     Form = "date"     // a Date as a text in ISO 8601
	JSONText     Form = "json"     // JSON as a text
	DecimalForm  Form = "decimal"  // a Decimal as a text or a Double
	IntegerText  Form = "integer"  // an Integer as a text
	DoubleText   Form = "double"   // a Double as a text
	Truth        Form = "boolean"  // a Boolean as an integer: 0 is false, all other integers are true
	Midnight     Form = "day"      // a Day as a Date: its midnight in UTC
)

// Forms returns all forms.
func Forms() []Form {
	return []Form{EpochSeconds, EpochMillis, DateText, JSONText, DecimalForm, IntegerText, DoubleText, Truth, Midnight}
}

// Type returns the type of a field whose values are stored in form.
func (form Form) Type() Type {
	switch form {
	case EpochSeconds, EpochMillis, DateText:
		return Date
	case JSONText:
		return JSON
	case DecimalForm:
		return Decimal
	case IntegerText:
		return Integer
	case DoubleText:
		return Double
	case Truth:
		return Boolean
	case Midnight:
		return Day
	}
	return Opaque
}

// Of returns the types of the columns that can contain values in form.
func (form Form) Of() []Type {
	switch form {
	case EpochSeconds, EpochMillis, Truth:
		return []Type{Integer}
	case DecimalForm:
		return []Type{String, Double}
	case Midnight:
		return []Type{Date}
	}
	return []Type{String}
}

// Unit returns the length in microseconds of one unit of the stored integer. It returns 0 for a form that doesn't count
// time.
func (form Form) Unit() int64 {
	switch form {
	case EpochSeconds:
		return 1_000_000
	case EpochMillis:
		return 1000
	}
	return 0
}

// Stored describes how the source stores a field whose type the owner's rules declare.
type Stored struct {
	Form  Form
	Field Field // the field as the source describes it
}

// Unit returns the length in microseconds of one unit of the stored integer. It returns 0 if the integer doesn't count
// time.
func (f *Field) Unit() int64 {
	if f == nil || f.Stored == nil {
		return 0
	}
	return f.Stored.Form.Unit()
}

// In returns f, a field of the source, as a field that is stored in form. Its type follows from form. Its Native is the
// same for all databases: the name of a computed value of that type in a dialect.
func (f *Field) In(form Form) Field {
	held := *f
	native := [...]string{Date: "milliseconds", Day: "milliseconds", JSON: "json", Decimal: "decimal", Integer: "int8", Double: "REAL", Boolean: ""}
	out := Field{Name: f.Name, Type: form.Type(), Description: f.Description, Required: f.Required, Generated: f.Generated, Stored: &Stored{form, held}}
	out.Native = native[out.Type]
	return out
}

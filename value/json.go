package value

// keptDepth is the deepest nesting of stored JSON: that of external documents, and a few levels around it.
const keptDepth = 128

// MarshalJSON encodes v as AppendJSON does, for stored documents.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON decodes what MarshalJSON encoded. Dates and bytes come back as strings, numbers as Int or Decimal.
// Unlike Read it accepts NUL, which texts of records can contain.
func (v *Value) UnmarshalJSON(b []byte) error {
	kept, err := read(b, keptDepth, true)
	if err != nil {
		return err
	}
	*v = kept
	return nil
}

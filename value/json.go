package value

// keptDepth is the maximum nesting of stored JSON: the maximum of external documents, plus a few levels around them.
const keptDepth = 128

// MarshalJSON encodes v as AppendJSON does, for stored documents.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON decodes the output of MarshalJSON. Dates and bytes become strings, and numbers become Int or Decimal.
// Unlike Read, it accepts NUL, which texts of records can contain.
func (v *Value) UnmarshalJSON(b []byte) error {
	kept, err := read(b, keptDepth, true)
	if err != nil {
		return err
	}
	*v = kept
	return nil
}

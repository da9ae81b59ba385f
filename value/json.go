package value

// keptDepth is how deep JSON may nest that we have written ourselves: what was let in, and a few levels around it.
const keptDepth = 128

// MarshalJSON writes v as AppendJSON does: for documents that we keep.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON reads what MarshalJSON wrote. Dates, decimals and bytes come back as JSON has them: texts and numbers.
func (v *Value) UnmarshalJSON(b []byte) error {
	read, err := Read(b, keptDepth)
	if err != nil {
		return err
	}
	*v = read
	return nil
}

package value

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// keptDepth is how deep JSON may nest that we have written ourselves: what was let in, and a few levels around it.
const keptDepth = 128

// MarshalJSON writes v as AppendJSON does: for documents that we keep.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON reads what MarshalJSON wrote. Dates, decimals and bytes come back as JSON has them: texts and numbers.
// Texts of records can hold NUL, so here it is read.
func (v *Value) UnmarshalJSON(b []byte) error {
	r := reader{dec: jsontext.NewDecoder(bytes.NewReader(b)), depth: keptDepth, kept: true}
	read, err := r.read()
	if err != nil {
		return err
	}
	*v = read
	return nil
}

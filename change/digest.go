package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Sum returns the digest of the content that would run, in hex. It is SHA-256 over a canonical form. The form has the
// source, its schema, the actions, the requested writes, the records before them, and the API answers with these
// records. Values that a source adds (defaults, triggers) are not included, because they are only known when the write
// runs.
func (c *Change) Sum() string {
	before := make([]value.Value, len(c.Effects))
	for i, e := range c.Effects {
		before[i] = e.Before
	}
	parts := []value.Member{
		{Name: "source", Value: value.OfString(c.Source)},
		{Name: "action", Value: value.OfString(c.Action)},
		{Name: "writes", Value: value.OfArray(c.Writes)},
		{Name: "before", Value: value.OfArray(before)},
	}
	if slices.ContainsFunc(c.Effects, func(e Effect) bool { return !e.Read.IsNull() || e.Present != "" }) {
		read := make([]value.Value, len(c.Effects))
		for i, e := range c.Effects {
			read[i] = value.OfArray([]value.Value{value.OfString(string(e.Present)), e.Read})
		}
		parts = append(parts, value.Member{Name: "read", Value: value.OfArray(read)})
	}
	if c.Schema != "" {
		parts = append(parts, value.Member{Name: "schema", Value: value.OfString(c.Schema)})
	}
	if c.Origins != nil {
		made := make([]value.Value, len(c.Origins))
		for i, o := range c.Origins {
			made[i] = value.OfString(o.Action)
		}
		parts = append(parts, value.Member{Name: "actions", Value: value.OfArray(made)})
	}
	sum := sha256.Sum256(write.AppendCanonical(nil, value.OfObject(parts)))
	return hex.EncodeToString(sum[:])
}

// Digest returns the SHA-256 of a value, in hex, cut to 128 bits.
func Digest(v value.Value) string {
	sum := sha256.Sum256(write.AppendCanonical(nil, v))
	return hex.EncodeToString(sum[:16])
}

// ParseWrites returns the writes of c, parsed strictly from the stored change.
func (c *Change) ParseWrites() ([]write.Write, error) {
	out := make([]write.Write, len(c.Writes))
	for i, v := range c.Writes {
		w, err := write.Parse(v, fmt.Sprintf("/writes/%d", i))
		if err != nil {
			return nil, err
		}
		out[i] = w
	}
	return out, nil
}

// From returns the origin of the i-th write.
func (c *Change) From(i int) write.Origin {
	if i < len(c.Origins) {
		return c.Origins[i]
	}
	return write.Origin{Action: c.Action}
}

// Actions returns the actions that made writes of c, sorted, without duplicates. "" means writes without an action.
func (c *Change) Actions() []string {
	var out []string
	for i := range c.Writes {
		out = append(out, c.From(i).Action)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

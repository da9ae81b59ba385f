package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Sum returns the digest of what would run, in hex: SHA-256 over the canonical form of the source, the action, the
// requested writes and the records before them. What a source adds by itself (defaults, triggers) is not included: it
// is only known when the write runs.
func (c *Change) Sum() string {
	before := make([]value.Value, len(c.Effects))
	for i, e := range c.Effects {
		before[i] = e.Before
	}
	doc := value.OfObject([]value.Member{
		{Name: "source", Value: value.OfString(c.Source)},
		{Name: "action", Value: value.OfString(c.Action)},
		{Name: "writes", Value: value.OfArray(c.Writes)},
		{Name: "before", Value: value.OfArray(before)},
	})
	sum := sha256.Sum256(write.AppendCanonical(nil, doc))
	return hex.EncodeToString(sum[:])
}

// Asked returns the writes of c, parsed strictly from the stored change.
func (c *Change) Asked() ([]write.Write, error) {
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

package bailiwick

import (
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
)

// tokenBytes is how many bytes of an answer are about a token of a language model.
const tokenBytes = 4

// asker returns whose allowances who draws from: those of the credential, for one who was derived as well.
func asker(p identity.Principal) limit.Asker {
	return limit.Asker{Owner: p.Account(), Token: p.Origin(), Depth: p.Depth}
}

// used is what the call has used with an answer of so many bytes.
func (c *Call) used(bytes int) limit.Use {
	tokens := int64(bytes / tokenBytes)
	return limit.Use{Rows: int64(c.record.Rows), Bytes: int64(bytes), Tokens: tokens, Cost: limit.Cost(tokens, c.gateway.options.Price)}
}

package bailiwick

import (
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
)

// tokenBytes is the approximate number of bytes in a token of a language model.
const tokenBytes = 4

// asker returns whose allowances p draws from: its credential's, also for a derived principal.
func asker(p identity.Principal) limit.Asker {
	return limit.Asker{Owner: p.Account(), Token: p.Origin(), Depth: p.Depth}
}

// used returns what the call has used, given an answer of so many bytes.
func (c *Call) used(bytes int) limit.Use {
	tokens := int64(bytes / tokenBytes)
	return limit.Use{Rows: int64(c.record.Rows), Bytes: int64(bytes), Tokens: tokens, Cost: limit.Cost(tokens, c.gateway.options.Price)}
}

package audit

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"
)

var errForm = errors.New("audit: not a record in canonical form")

// Parse parses the canonical form of a record, without its Prev and Hash. It refuses any input that AppendCanonical
// would have written differently, so that every change of the stored text is detected.
func Parse(canonical []byte) (Record, error) {
	p := parser{rest: string(canonical)}
	var r Record
	r.Seq = p.integer(`{"seq":`)
	r.Time = p.time(`,"time":`)
	r.Principal = p.text(`,"principal":`)
	r.Owner = p.optional(`,"owner":`)
	r.Tenant = p.optional(`,"tenant":`)
	r.TokenID = p.optional(`,"token_id":`)
	r.Correlation = p.text(`,"correlation_id":`)
	r.Tool = p.text(`,"tool":`)
	r.Class = p.optional(`,"class":`)
	r.ArgKeys = p.list(`,"arg_keys":`)
	r.ArgHash = p.optional(`,"arg_hash":`)
	r.Outcome = p.text(`,"outcome":`)
	r.Code = p.optional(`,"code":`)
	r.Kind = p.optional(`,"kind":`)
	r.Policy = p.optional(`,"policy":`)
	r.Rows = int(p.integer(`,"rows":`))
	r.Bytes = int(p.integer(`,"bytes":`))
	r.Tokens = int(p.integer(`,"tokens":`))
	r.Micros = p.integer(`,"duration_us":`)
	r.Parent = p.optional(`,"parent":`)
	r.Depth = int(p.number(`,"depth":`))
	r.Scopes = p.list(`,"scopes":`)
	r.Uses = p.list(`,"uses":`)
	r.Cost = p.number(`,"cost_microusd":`)
	r.Change = p.optional(`,"change":`)
	r.Checkpoint = p.optional(`,"checkpoint":`)
	r.Step = p.optional(`,"step":`)
	r.Digest = p.optional(`,"digest":`)
	r.Credential = p.optional(`,"credential":`)
	r.Person = p.take(ofPerson)
	if p.bad || p.rest != "}" {
		return Record{}, errForm
	}
	// The record must be the same bytes when it is written again. A different number format or an unnecessary escape is
	// a change too.
	var back [1024]byte
	if !bytes.Equal(r.AppendCanonical(back[:0]), canonical) {
		return Record{}, errForm
	}
	return r, nil
}

// A parser consumes members from the beginning of rest. bad is set after a syntax error.
type parser struct {
	rest string
	bad  bool
}

func (p *parser) take(literal string) bool {
	rest, ok := strings.CutPrefix(p.rest, literal)
	if ok {
		p.rest = rest
	}
	return ok
}

// number parses an integer that is omitted if it is 0.
func (p *parser) number(member string) int64 {
	if !strings.HasPrefix(p.rest, member) {
		return 0
	}
	return p.integer(member)
}

// integer consumes a member and its number. For any other value, such as a number of more than 64 bits, it sets bad.
func (p *parser) integer(member string) int64 {
	if !p.take(member) {
		p.bad = true
		return 0
	}
	end := 0
	for end < len(p.rest) && (p.rest[end] == '-' || '0' <= p.rest[end] && p.rest[end] <= '9') {
		end++
	}
	n, err := strconv.ParseInt(p.rest[:end], 10, 64)
	p.bad = p.bad || err != nil
	p.rest = p.rest[end:]
	return n
}

func (p *parser) time(member string) time.Time {
	t, err := time.Parse(timeForm, p.text(member))
	p.bad = p.bad || err != nil
	return t
}

func (p *parser) optional(member string) string {
	if !strings.HasPrefix(p.rest, member) {
		return ""
	}
	return p.text(member)
}

// text consumes a member and its string. It doesn't copy a string without escapes, which is the usual case.
func (p *parser) text(member string) string {
	if !p.take(member) || !p.take(`"`) {
		p.bad = true
		return ""
	}
	i := strings.IndexAny(p.rest, `"\`)
	if i < 0 {
		p.bad = true
		return ""
	}
	if p.rest[i] == '"' {
		s := p.rest[:i]
		p.rest = p.rest[i+1:]
		return s
	}
	return p.parseEscapedString()
}

// parseEscapedString parses a string with escapes, after its opening quote.
func (p *parser) parseEscapedString() string {
	var out strings.Builder
	for i := 0; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '"':
			p.rest = p.rest[i+1:]
			return out.String()
		case c != '\\':
			out.WriteByte(c)
		case i+1 < len(p.rest) && p.rest[i+1] != 'u':
			i++
			out.WriteByte(p.rest[i])
		case i+5 < len(p.rest):
			n, err := strconv.ParseUint(p.rest[i+2:i+6], 16, 8)
			p.bad = p.bad || err != nil
			out.WriteByte(byte(n))
			i += 5
		}
	}
	p.bad = true
	return ""
}

// list consumes a member and its list of at least one string. It returns nil without the member, because empty lists
// aren't written.
func (p *parser) list(member string) []string {
	if !p.take(member + "[") {
		return nil
	}
	out := []string{p.text("")}
	for !p.bad && p.take(",") {
		out = append(out, p.text(""))
	}
	p.bad = p.bad || !p.take("]")
	return out
}

package edge

import (
	"encoding/json"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// invalidParams is the JSON-RPC code for arguments that violate their schema.
const invalidParams = -32602

// ProblemBody encodes p in the JSON form of all transports: {error, error_code, details?, retryable, suggestion?,
// retry_after?, correlation_id}.
func ProblemBody(p *problem.Error, correlation string) json.RawMessage {
	b := value.AppendQuote([]byte(`{"error":`), p.Detail)
	b = value.AppendQuote(append(b, `,"error_code":`...), string(p.Code))
	if d := details(p); d != nil {
		b = append(append(b, `,"details":`...), d...)
	}
	b = strconv.AppendBool(append(b, `,"retryable":`...), p.Retryable())
	if p.Suggestion != "" {
		b = value.AppendQuote(append(b, `,"suggestion":`...), p.Suggestion)
	}
	if p.RetryAfter > 0 {
		b = strconv.AppendFloat(append(b, `,"retry_after":`...), p.Wait(), 'f', -1, 64)
	}
	b = value.AppendQuote(append(b, `,"correlation_id":`...), correlation)
	return append(b, '}')
}

// details encodes the location of a problem in the arguments. For violations of the schema, the result contains code
// and errors. Otherwise it contains pointer, near and scope, and the fields of a Denial and a Reply. The result is
// nil if there are no details.
func details(p *problem.Error) json.RawMessage {
	var d struct {
		Code    int             `json:"code,omitempty"`
		Errors  []problem.Fault `json:"errors,omitempty"`
		Pointer string          `json:"pointer,omitempty"`
		Near    []string        `json:"near,omitempty"`
		Scope   string          `json:"scope,omitempty"`
		*problem.Denial
		*problem.Reply
	}
	if len(p.Faults) > 0 {
		d.Code, d.Errors = invalidParams, p.Faults
	}
	d.Pointer, d.Near, d.Scope, d.Denial, d.Reply = p.Pointer, p.Near, p.Scope, p.Denial, p.Reply
	b, err := json.Marshal(d)
	if err != nil || string(b) == "{}" {
		return nil // all values are plain, so encoding can't fail
	}
	return b
}

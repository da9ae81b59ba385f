package edge

import (
	"encoding/json"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// invalidParams is JSON-RPC's code of arguments that break their schema.
const invalidParams = -32602

// ProblemBody encodes p as all transports show it: {error, error_code, details?, retryable, suggestion?, retry_after?,
// correlation_id}.
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

// details encodes the place of a problem in the arguments. It is {code, errors} for violations of the schema, else
// {pointer, near} and the members of a Denial and a Reply. It is nil if there is nothing to report.
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
		return nil // plain values only: marshalling can't fail
	}
	return b
}

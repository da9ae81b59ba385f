// Package audit is the record of what was asked, decided and done, chained by hashes.
//
// It ends both ways. Each Record carries the hash of the one before, so that a change, a removal or a reordering
// is found and located by Verify. An answer that can't be recorded isn't given.
package audit

import (
	"context"
	"time"
)

// A Record is one call and its outcome. It holds no value of any filter or field: argument digests and key names only.
type Record struct {
	Seq  int64  `json:"seq"`  // 1 for the first; the log sets it
	Prev string `json:"prev"` // the Hash of the record before, in hex; "" for the first; the log sets it
	Hash string `json:"hash"` // SHA-256 over Prev and the record's canonical form, in hex; the log sets it

	Time        time.Time `json:"time"` // UTC, cut to microseconds
	Principal   string    `json:"principal"`
	Owner       string    `json:"owner,omitempty"`
	Tenant      string    `json:"tenant,omitempty"`
	TokenID     string    `json:"token_id,omitempty"`
	Correlation string    `json:"correlation_id"`

	Tool    string   `json:"tool"`
	Class   string   `json:"class,omitempty"`
	ArgKeys []string `json:"arg_keys,omitempty"` // names of the arguments given, sorted
	ArgHash string   `json:"arg_hash,omitempty"` // SHA-256 of the canonical arguments keyed with the log's secret, in hex
	Outcome string   `json:"outcome"`            // ok, refused, failed, cancelled
	Code    string   `json:"code,omitempty"`     // the error_code given to the asker
	Kind    string   `json:"kind,omitempty"`     // the true reason: hidden_class, field_denied, …
	Policy  string   `json:"policy,omitempty"`   // the version of the rules that decided
	Rows    int      `json:"rows"`
	Bytes   int      `json:"bytes"`
	Tokens  int      `json:"tokens"` // estimated: bytes/4
	Micros  int64    `json:"duration_us"`
}

// The outcomes of a call.
const (
	OK        = "ok"
	Refused   = "refused"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// A Log appends records. Append sets Seq, Prev and Hash and returns when the record is durable.
// It is safe for use by several goroutines.
type Log interface {
	Append(context.Context, *Record) error
}

// A Reader reads a log back in order of Seq, from the record with Seq from (1 for the first) on; next returns
// false when there are no more.
type Reader interface {
	Records(ctx context.Context, from int64, yield func(Record) bool) error
}

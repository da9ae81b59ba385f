// Package audit is the record of what was asked, decided and done, chained by hashes.
//
// It ends both ways. Each Record carries the hash of the one before, and the Head, kept apart from the records,
// says where the chain ends; so a change, a removal, a reordering or a cut tail is found and located by Verify. Signed
// checkpoints between the records find a past that was written anew with right hashes, by somebody without the key.
// An answer that can't be recorded isn't given.
package audit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
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
	ArgHash string   `json:"arg_hash,omitempty"` // of the canonical arguments, by an ArgHasher
	Outcome string   `json:"outcome"`            // ok, refused, failed, cancelled
	Code    string   `json:"code,omitempty"`     // the error_code given to the asker
	Kind    string   `json:"kind,omitempty"`     // the true reason: hidden_class, field_denied, …
	Policy  string   `json:"policy,omitempty"`   // the version of the rules that decided
	Rows    int      `json:"rows"`
	Bytes   int      `json:"bytes"`
	Tokens  int      `json:"tokens"` // estimated: bytes/4
	Micros  int64    `json:"duration_us"`

	// These came later. They stand at the end of the canonical form and are left out when empty, so that the hashes of
	// older records stay what they are.
	Parent string   `json:"parent,omitempty"`        // the principal that this one was derived from
	Depth  int      `json:"depth,omitempty"`         // how many generations stand above it
	Scopes []string `json:"scopes,omitempty"`        // what the principal held, sorted
	Uses   []string `json:"uses,omitempty"`          // what the call named or read, as "source.Class" and "source.Class.field", sorted; hidden ones too, those that don't exist not
	Cost   int64    `json:"cost_microusd,omitempty"` // estimated, in millionths of a US dollar; 0 when no rate is set
	Change string   `json:"change,omitempty"`        // the id of the change that the call was about

	Checkpoint string `json:"checkpoint,omitempty"` // "SEQ:HASH:SIGNATURE", in records that are no calls: see Signer

	// Step identifies what the record is of, in records that are no calls but steps: "CHANGE:N" for step N of a change. A
	// log keeps one record of a step.
	Step   string `json:"step,omitempty"`
	Digest string `json:"digest,omitempty"` // of what a step decided about, in hex: change.Change.Sum
}

// Copy returns r with lists of its own.
func (r *Record) Copy() Record {
	out := *r
	out.ArgKeys, out.Scopes, out.Uses = slices.Clone(r.ArgKeys), slices.Clone(r.Scopes), slices.Clone(r.Uses)
	return out
}

// The outcomes of a call.
const (
	OK        = "ok"
	Refused   = "refused"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// The outcomes of calls about changes, where they are what they were meant to be.
const (
	Proposed  = "proposed"
	Withdrawn = "withdrawn" // by the agent that proposed
	Approved  = "approved"
	Rejected  = "rejected"
	Expired   = "expired"
	Applying  = "applying" // what comes next is written, or its record is missing
	Applied   = "applied"
)

// Well reports whether r ended as it was meant to.
func (r *Record) Well() bool {
	return r.Outcome != Refused && r.Outcome != Failed && r.Outcome != Cancelled
}

// A Log appends records. Append sets Seq, Prev and Hash and returns when the record is durable. Of a Step that the log
// has already it appends nothing and sets r to the record that it has: whoever doesn't know whether a step was recorded
// records it again. A Log that can't look for steps must not be given to a gateway that takes changes.
// It is safe for use by several goroutines. A cancelled context ends the waiting; whether the record was kept is then
// not known, so a call that must be recorded is appended under context.WithoutCancel.
type Log interface {
	Append(context.Context, *Record) error
}

// The bounds for Reader.Records and Reader.Backwards.
const (
	First int64 = math.MinInt64 // from the beginning, with whatever someone may have put before record 1
	Last  int64 = math.MaxInt64 // from the end
)

// A Reader reads a log back. The walk ends without error when yield returns false or no record is left. A record that
// can't be read ends it with a *Damage that names the record; the walk can be taken up again behind it.
type Reader interface {
	// Records walks forwards in order of Seq, from the record with Seq from on.
	Records(ctx context.Context, from int64, yield func(Record) bool) error
	// Backwards walks backwards in order of Seq, from the record with Seq from on.
	Backwards(ctx context.Context, from int64, yield func(Record) bool) error
	// Find returns the record of a step; false when the log has none.
	Find(ctx context.Context, step string) (Record, bool, error)
	// Head returns what the log keeps apart about its last record; the zero Head when the log is empty.
	Head(context.Context) (Head, error)
}

// A Head is the end of a chain: the last record's Seq and Hash. The zero Head is the end of an empty log.
// One that is noted down outside the log proves later that the log still has that past (see Verify).
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"` // in hex; "" for an empty log
}

// Seal makes r the record after prev: it sets Seq, Prev and Hash, cuts Time to microseconds UTC and replaces invalid
// UTF-8, so that r reads back from storage as it is hashed. It returns the new end of the chain.
func Seal(prev Head, r *Record) Head {
	clean(r)
	r.Seq, r.Prev = prev.Seq+1, prev.Hash
	r.Hash = hashOf(r, nil)
	return Head{Seq: r.Seq, Hash: r.Hash}
}

// hashOf returns the hash that r ought to have, in hex. buf is scratch space that it may use.
func hashOf(r *Record, buf []byte) string {
	sum := sha256.Sum256(r.AppendCanonical(append(buf[:0], r.Prev...)))
	return hex.EncodeToString(sum[:])
}

// An ArgHasher hashes arguments with the log's secret, so that equal calls are seen to be equal and nobody without
// the secret can find a value by trying. The zero ArgHasher gives "".
type ArgHasher struct{ secret []byte }

// NewArgHasher returns an ArgHasher with a secret of 32 bytes or more; shorter ones it refuses.
func NewArgHasher(secret []byte) (ArgHasher, error) {
	if len(secret) < sha256.Size {
		return ArgHasher{}, fmt.Errorf("audit: the argument secret has %d bytes, want at least %d", len(secret), sha256.Size)
	}
	return ArgHasher{secret: append([]byte(nil), secret...)}, nil
}

// Sum returns the HMAC-SHA256 of the arguments in canonical form, in hex, for Record.ArgHash.
func (h ArgHasher) Sum(arguments []byte) string {
	if h.secret == nil {
		return ""
	}
	mac := hmac.New(sha256.New, h.secret)
	mac.Write(arguments)
	return hex.EncodeToString(mac.Sum(nil))
}

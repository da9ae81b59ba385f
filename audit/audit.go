// Package audit is the log of calls, decisions and changes, chained by hashes.
//
// Each Record has the hash of the previous record. The Head is the end of the chain, and is stored separately from the
// records. So Verify finds changed, removed, reordered and cut-off records. If someone without the key rewrites the
// history with valid hashes, the signed checkpoints between the records reveal it. The gateway doesn't send an answer
// that can't be recorded.
package audit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Record is one call and its outcome. It contains no value of a filter or field, only digests and names of
// arguments.
type Record struct {
	Seq  int64  `json:"seq"`  // 1 for the first. Set by the log
	Prev string `json:"prev"` // the Hash of the previous record, in hex, or "" for the first. Set by the log
	Hash string `json:"hash"` // SHA-256 over Prev and the record's canonical form, in hex. Set by the log

	Time        time.Time `json:"time"` // UTC, truncated to microseconds
	Principal   string    `json:"principal"`
	Owner       string    `json:"owner,omitempty"`
	Tenant      string    `json:"tenant,omitempty"`
	TokenID     string    `json:"token_id,omitempty"`
	Correlation string    `json:"correlation_id"`

	Tool    string   `json:"tool"`
	Class   string   `json:"class,omitempty"`
	ArgKeys []string `json:"arg_keys,omitempty"` // names of the given arguments, sorted
	ArgHash string   `json:"arg_hash,omitempty"` // the hash of the canonical arguments, by an ArgHasher
	Outcome string   `json:"outcome"`            // OK, Proposed or another constant below
	Code    string   `json:"code,omitempty"`     // the error_code of the response
	Kind    string   `json:"kind,omitempty"`     // the actual reason: hidden_class, field_denied, …
	Policy  string   `json:"policy,omitempty"`   // the version of the rules in force for the call
	Rows    int      `json:"rows"`
	Bytes   int      `json:"bytes"`
	Tokens  int      `json:"tokens"` // estimated: bytes/4
	Micros  int64    `json:"duration_us"`

	// Fields added later are at the end of the canonical form and left out when empty, so that the hashes of older
	// records stay valid.
	Parent string   `json:"parent,omitempty"`        // the principal from which this one was derived
	Depth  int      `json:"depth,omitempty"`         // number of derivations from the credential's principal
	Scopes []string `json:"scopes,omitempty"`        // the principal's scopes, sorted
	Uses   []string `json:"uses,omitempty"`          // existing names used, hidden ones included: "source.Class", "source.Class.field", sorted
	Cost   int64    `json:"cost_microusd,omitempty"` // estimated, in millionths of a US dollar, or 0 if no price is configured
	Change string   `json:"change,omitempty"`        // the id of the change that the call was about

	Checkpoint string `json:"checkpoint,omitempty"` // "SEQ:HASH:SIGNATURE", in records of a Signer

	// Step identifies the recorded event in records that are not calls: "CHANGE:N" for step N of a change,
	// "token:ID:created", "token:ID:revoked", "rules:…". A log keeps one record per step.
	Step   string `json:"step,omitempty"`
	Digest string `json:"digest,omitempty"` // in hex: of the change at that step (change.Change.Sum), or of the token

	// Credential names the owner of the credential in calls of an HTTP API: "gateway", "person NAME", "owner NAME",
	// "token ID", "claim VALUE", "program for NAME", "exchanged for NAME", or "".
	Credential string `json:"credential,omitempty"`

	// Person is set in records of calls that a person made, such as the pages of the console. Other calls are of agents
	// and services.
	Person bool `json:"person,omitempty"`
}

// Subject returns the subject of the step in r: a change's id or "token:ID". It returns "" if r is not a step.
func (r *Record) Subject() string { return r.Step[:max(strings.LastIndexByte(r.Step, ':'), 0)] }

// Copy returns a copy of r that shares no slices with it.
func (r *Record) Copy() Record {
	out := *r
	out.ArgKeys, out.Scopes, out.Uses = slices.Clone(r.ArgKeys), slices.Clone(r.Scopes), slices.Clone(r.Uses)
	return out
}

// Outcomes of a call.
const (
	OK        = "ok"
	Refused   = "refused"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// Outcomes of calls about changes that succeeded.
const (
	Proposed  = "proposed"
	Withdrawn = "withdrawn" // by the agent that proposed the change
	Approved  = "approved"
	Rejected  = "rejected"
	Expired   = "expired"
	Applying  = "applying" // about to be applied. The result is a later record, or missing
	Applied   = "applied"
)

// Well reports whether r succeeded.
func (r *Record) Well() bool {
	return r.Outcome != Refused && r.Outcome != Failed && r.Outcome != Cancelled
}

// A Log appends records. Append sets Seq, Prev and Hash and returns when the record is durable. If the log already has
// a record of the same Step, Append adds nothing and sets r to that record. So a caller that is unsure whether a step
// was recorded can append it again. A Log that can't look up steps must not be used by a gateway that accepts changes.
// A Log is safe for use by several goroutines. If ctx is cancelled, Append stops waiting, and it isn't known whether
// the record was stored. So use context.WithoutCancel for records that must not be lost.
type Log interface {
	Append(context.Context, *Record) error
}

// Bounds for Reader.Records and Reader.Backwards.
const (
	First int64 = math.MinInt64 // from the beginning, including anything inserted before record 1
	Last  int64 = math.MaxInt64 // from the end
)

// A Chain is the part of a log that Verify reads. A walk ends without error if yield returns false or no record is
// left. At a record that can't be read, it ends with a *Damage that names the record. A new walk can continue after it.
type Chain interface {
	// Records walks forwards in order of Seq, starting at the record with Seq from.
	Records(ctx context.Context, from int64, yield func(Record) bool) error
	// Find returns the record of a step, or false if the log has none.
	Find(ctx context.Context, step string) (Record, bool, error)
	// Head returns the separately stored end of the log, or the zero Head if the log is empty.
	Head(context.Context) (Head, error)
}

// A Reader reads a log.
type Reader interface {
	Chain
	// Backwards walks backwards in order of Seq, starting at the record with Seq from.
	Backwards(ctx context.Context, from int64, yield func(Record) bool) error
}

// A Head is the end of a chain: the last record's Seq and Hash. The zero Head is the end of an empty log. If you keep a
// Head outside of the log, it can prove later that the log still has that history (see Verify).
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"` // in hex, or "" for an empty log
}

// Seal makes r the record after prev. It sets Seq, Prev and Hash. It truncates Time to microseconds in UTC and replaces
// invalid UTF-8, so that a reader gets the same bytes as were hashed. It returns the new end of the chain.
func Seal(prev Head, r *Record) Head {
	_, head := AppendSealedRecord(nil, prev, r)
	return head
}

// AppendSealedRecord is Seal, and appends the canonical form of r to dst.
func AppendSealedRecord(dst []byte, prev Head, r *Record) ([]byte, Head) {
	clean(r)
	r.Seq, r.Prev = prev.Seq+1, prev.Hash
	start := len(dst)
	dst = r.AppendCanonical(append(dst, r.Prev...))
	sum := sha256.Sum256(dst[start:])
	r.Hash = hex.EncodeToString(sum[:])
	dst = dst[:start+copy(dst[start:], dst[start+len(r.Prev):])]
	return dst, Head{Seq: r.Seq, Hash: r.Hash}
}

// hashOf returns the hash that r should have, in hex. buf is scratch space.
func hashOf(r *Record, buf []byte) string {
	sum := sha256.Sum256(r.AppendCanonical(append(buf[:0], r.Prev...)))
	return hex.EncodeToString(sum[:])
}

// An ArgHasher hashes arguments with the log's secret. Equal calls have equal hashes, but nobody can find values by
// guessing without the secret. The zero ArgHasher returns "".
type ArgHasher struct{ macs *sync.Pool } // of hash.Hash, keyed with the secret

// NewArgHasher returns an ArgHasher. It fails if secret is shorter than 32 bytes.
func NewArgHasher(secret []byte) (ArgHasher, error) {
	if len(secret) < sha256.Size {
		return ArgHasher{}, fmt.Errorf("audit: the argument secret has %d bytes, want at least %d", len(secret), sha256.Size)
	}
	secret = slices.Clone(secret)
	return ArgHasher{&sync.Pool{New: func() any { return hmac.New(sha256.New, secret) }}}, nil
}

// Sum returns the HMAC-SHA256 of the canonical arguments, in hex, for Record.ArgHash.
func (h ArgHasher) Sum(arguments []byte) string {
	if h.macs == nil {
		return ""
	}
	mac := h.macs.Get().(hash.Hash)
	defer h.macs.Put(mac)
	mac.Reset()
	mac.Write(arguments)
	var sum [sha256.Size]byte
	return hex.EncodeToString(mac.Sum(sum[:0]))
}

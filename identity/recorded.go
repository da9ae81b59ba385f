package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// The last words of a Step and of a Tool about tokens.
const (
	created = "created"
	revoked = "revoked"
)

func (t *Token) subject() string { return "token:" + t.ID }

// record returns the audit record of a step of by on t.
func (t *Token) record(event string, by Principal, at time.Time) audit.Record {
	r := audit.Record{Time: at, Principal: by.ID, Owner: by.Owner, Tenant: by.Tenant, TokenID: by.TokenID, Tool: "tokens/" + event, Outcome: audit.OK,
		Step: t.subject() + ":" + event}
	if event == created {
		r.Digest = t.digest()
	}
	return r
}

// digest returns the SHA-256 of everything that determines the rights of t, in hex.
func (t *Token) digest() string {
	allows := *t
	allows.LastUsed, allows.Revoked = time.Time{}, time.Time{}
	b, _ := json.Marshal(struct { // can't fail for plain fields
		Token
		Hash    []byte
		Filters map[string]string
		Claims  string `json:",omitempty"`
	}{allows, t.Hash[:], t.Filters, t.Claims})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// drainRecords moves the records of k from the outbox into the log.
func (t *Tokens) drainRecords(ctx context.Context, k *Token) error {
	_, err := audit.Drain(context.WithoutCancel(ctx), t.store, k.subject(), t.log)
	if err == nil {
		return nil
	}
	return &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "audit", Err: fmt.Errorf("what was done to token %s could not be recorded yet: %w", k.ID, err)}
}

// A Reconciliation is the result of Reconcile.
type Reconciliation struct {
	Tokens  int64  `json:"tokens"`  // tokens read
	Older   int64  `json:"older"`   // tokens created before the first one with a record
	Waiting int64  `json:"waiting"` // records that are still in the outbox
	Lacks   []Lack `json:"lacks"`
}

// A Lack is a token without its record, or a record without its token.
type Lack struct {
	Token  string `json:"token"` // its ID
	Detail string `json:"detail"`
}

// Error names the token and its fault.
func (l Lack) Error() string { return fmt.Sprintf("token %s: %s", l.Token, l.Detail) }

// Reconcile compares the tokens of a store with the records of log. Each token must have a record of its creation with
// its rights, and a record of its revocation. Each record must have its token. Reconcile fails only if one of them
// can't be read.
func Reconcile(ctx context.Context, s TokenStore, log audit.Reader) (Reconciliation, error) {
	r := reconciler{store: s, log: log, have: map[string]audit.Record{}}
	left, err := s.PendingRecords(ctx, "", 1<<20) // before the log: records that leave the outbox are in the log then
	if err != nil {
		return r.out, err
	}
	for _, rec := range left {
		r.note(rec)
	}
	r.out.Waiting = int64(len(r.have))
	if err := log.Records(ctx, audit.First, r.note); err != nil {
		return r.out, err
	}
	kept := map[string]bool{}
	for t, err := range pages(ctx, s, TokenFilter{}) {
		if err == nil {
			kept[t.ID] = true
			err = r.token(ctx, &t)
		}
		if err != nil {
			return r.out, err
		}
	}
	for _, rec := range r.have {
		id := strings.TrimPrefix(rec.Subject(), "token:")
		if !kept[id] {
			r.lack(id, fmt.Sprintf("record %d says %s by %s, and no such token is kept", rec.Seq, rec.Tool, rec.Principal))
		}
	}
	slices.SortFunc(r.out.Lacks, func(a, b Lack) int { return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Detail, b.Detail)) })
	return r.out, nil
}

// A reconciler compares the tokens of a store with the records of their creation and revocation.
type reconciler struct {
	store TokenStore
	log   audit.Reader
	have  map[string]audit.Record // by step
	first time.Time               // of the first record of a creation
	out   Reconciliation
}

// note adds a record.
func (r *reconciler) note(rec audit.Record) bool {
	switch rec.Tool {
	case "tokens/" + created:
		if r.first.IsZero() || rec.Time.Before(r.first) {
			r.first = rec.Time
		}
		r.have[rec.Step] = rec
	case "tokens/" + revoked:
		r.have[rec.Step] = rec
	}
	return true
}

// token compares one token with the records.
func (r *reconciler) token(ctx context.Context, t *Token) error {
	r.out.Tokens++
	made, ok, err := r.find(ctx, t, created)
	switch {
	case err != nil:
		return err
	case !ok && (r.first.IsZero() || t.Created.Before(r.first)):
		r.out.Older++
	case !ok:
		r.lack(t.ID, "no record says who created it")
	case made.Digest != t.digest():
		r.lack(t.ID, fmt.Sprintf("it allows other things than record %d says", made.Seq))
	}
	if t.Revoked.IsZero() {
		if end, ended := r.have[t.subject()+":"+revoked]; ended {
			r.lack(t.ID, fmt.Sprintf("record %d says that it was revoked, and it is good", end.Seq))
		}
		return nil
	}
	if _, ended, err := r.find(ctx, t, revoked); err != nil || ended || !ok {
		return err
	}
	r.lack(t.ID, "no record says who revoked it")
	return nil
}

// find returns the record of a step of t. It also finds a record that was written after the records were read.
func (r *reconciler) find(ctx context.Context, t *Token, event string) (audit.Record, bool, error) {
	step := t.subject() + ":" + event
	if rec, ok := r.have[step]; ok {
		return rec, true, nil
	}
	left, err := r.store.PendingRecords(ctx, t.subject(), 10)
	if err != nil {
		return audit.Record{}, false, err
	}
	for _, rec := range left {
		if rec.Step == step {
			return rec, true, nil
		}
	}
	return r.log.Find(ctx, step)
}

func (r *reconciler) lack(token, detail string) {
	r.out.Lacks = append(r.out.Lacks, Lack{token, detail})
}

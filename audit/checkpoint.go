package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The numbers of records after which checkpoints are due. checkpointAfter is the time limit.
const (
	checkpointEvery = 500
	maxUnsigned     = 4 * checkpointEvery // so many records may follow the last checkpoint without being Damage, because a process may end without warning
)

// CheckpointTool is the Tool of records that are checkpoints.
const CheckpointTool = "audit.checkpoint"

// A checkpoint is the text "SEQ:HASH:SIGNATURE". It has the Head of a record shortly before it, and an Ed25519
// signature of this Head in base64. Because of the chain, it signs all earlier records.

func signedText(h Head) []byte { return fmt.Appendf(nil, "bailiwick audit %d:%s", h.Seq, h.Hash) }

func checkpoint(key ed25519.PrivateKey, h Head) string {
	return fmt.Sprintf("%d:%s:%s", h.Seq, h.Hash, base64.StdEncoding.EncodeToString(ed25519.Sign(key, signedText(h))))
}

// readCheckpoint returns the signed head, or false if none of the keys made the signature.
func readCheckpoint(text string, keys []ed25519.PublicKey) (Head, bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return Head{}, false
	}
	seq, err := strconv.ParseInt(parts[0], 10, 64)
	signature, bad := base64.StdEncoding.DecodeString(parts[2])
	h := Head{Seq: seq, Hash: parts[1]}
	return h, err == nil && bad == nil && slices.ContainsFunc(keys, func(k ed25519.PublicKey) bool { return ed25519.Verify(k, signedText(h), signature) })
}

const keyStart = "ed25519:"

// FormatKey returns a public key as text: "ed25519:" and base64.
func FormatKey(key ed25519.PublicKey) string {
	return keyStart + base64.StdEncoding.EncodeToString(key)
}

// ParseKey parses the result of FormatKey.
func ParseKey(text string) (ed25519.PublicKey, error) {
	coded, ok := strings.CutPrefix(text, keyStart)
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("a public key is ed25519: and 32 bytes in base64, as `bailiwick audit key` prints it")
	}
	return key, nil
}

// recent is the heads of the last intact records that were in their place.
type recent [1 << 13]Head

func (r *recent) put(h Head) { r[h.Seq&(1<<13-1)] = h }

func (r *recent) hash(seq int64) (string, bool) {
	h := r[seq&(1<<13-1)]
	return h.Hash, h.Seq == seq && h.Hash != ""
}

// attest compares the signed head of a checkpoint with the record that it names. A checkpoint proves nothing if it has
// no trusted signature, or if its record can't be compared.
func (c *checker) attest(s seen) {
	if len(c.keys) == 0 || !s.whole {
		return
	}
	c.recent.put(Head{Seq: s.seq, Hash: s.hash})
	if s.checkpoint == "" {
		return
	}
	h, ok := readCheckpoint(s.checkpoint, c.keys)
	if !ok {
		c.strange++
		return
	}
	hash, known := c.recent.hash(h.Seq)
	switch {
	case h.Seq < s.seq && !known:
	case h.Seq < s.seq && hash == h.Hash:
		if h.Seq > c.signed.Seq {
			c.signed, c.proven, c.strange = h, max(c.proven, h.Seq), 0
		}
	case c.forged >= 0: // extend the finding of the previous checkpoint
		c.damage[c.forged].Last = max(c.damage[c.forged].Last, min(h.Seq, s.seq))
	default:
		first := max(c.signed.Seq, c.base.Seq) + 1
		c.forged = len(c.damage)
		c.add(first, max(first, min(h.Seq, s.seq)), Forked, fmt.Sprintf("the checkpoint at record %d was signed over another past", s.seq))
	}
}

// reportUnsignedEnd adds damage if too many records follow the last trusted checkpoint. It also adds damage if checkpoints
// without a trusted signature follow it, because somebody who rewrites the end would sign it with another key.
func (c *checker) reportUnsignedEnd(end int64) {
	if len(c.keys) == 0 || c.forged >= 0 || end-max(c.signed.Seq, c.base.Seq) <= maxUnsigned && c.strange == 0 {
		return
	}
	detail := "no checkpoint covers them"
	if c.strange > 0 {
		detail += fmt.Sprintf(" that this key has signed. %d are signed by another or forged", c.strange)
	}
	c.add(max(c.signed.Seq, c.base.Seq)+1, end, Unsigned, detail)
}

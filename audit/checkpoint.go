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

// Checkpoints are due after so many records, or so long after the first record that none covers.
const (
	checkpointEvery = 500
	maxUnsigned     = 4 * checkpointEvery // records behind the last checkpoint that are no Damage: gateways end without warning
)

// CheckpointTool is the Tool of records that are checkpoints.
const CheckpointTool = "audit.checkpoint"

// A checkpoint is the text "SEQ:HASH:SIGNATURE": the Head of a record that stands shortly before, and over that an
// Ed25519 signature in base64. What it signs is all of the past, by the chain.

func signedText(h Head) []byte { return fmt.Appendf(nil, "bailiwick audit %d:%s", h.Seq, h.Hash) }

func checkpoint(key ed25519.PrivateKey, h Head) string {
	return fmt.Sprintf("%d:%s:%s", h.Seq, h.Hash, base64.StdEncoding.EncodeToString(ed25519.Sign(key, signedText(h))))
}

// readCheckpoint returns the head that text signs; false where the signature is of none of the keys.
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

// FormatKey writes a public key for people: "ed25519:" and base64.
func FormatKey(key ed25519.PublicKey) string {
	return keyStart + base64.StdEncoding.EncodeToString(key)
}

// ParseKey reads what FormatKey writes.
func ParseKey(text string) (ed25519.PublicKey, error) {
	coded, ok := strings.CutPrefix(text, keyStart)
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("a public key is ed25519: and 32 bytes in base64, as `bailiwick audit key` prints it")
	}
	return key, nil
}

// recent are the last records that were met in their place, as far as they were whole.
type recent [1 << 13]Head

func (r *recent) put(h Head) { r[h.Seq&(1<<13-1)] = h }

func (r *recent) hash(seq int64) (string, bool) {
	h := r[seq&(1<<13-1)]
	return h.Hash, h.Seq == seq && h.Hash != ""
}

// attest holds what a checkpoint signs against the record that it names. One that nobody who is trusted has signed, or
// that names a record which can't be looked at, proves nothing.
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
			c.signed, c.proven = h, max(c.proven, h.Seq)
		}
	case c.forged >= 0: // what the checkpoint before found goes on
		c.damage[c.forged].Last = max(c.damage[c.forged].Last, min(h.Seq, s.seq))
	default:
		first := c.signed.Seq + 1
		c.forged = len(c.damage)
		c.add(first, max(first, min(h.Seq, s.seq)), Forked, fmt.Sprintf("the checkpoint at record %d was signed over another past", s.seq))
	}
}

// unsigned finds that too many records up to the end stand behind the last checkpoint, or that there are checkpoints and
// none by a key that is trusted.
func (c *checker) unsigned(end int64) {
	if len(c.keys) == 0 || c.forged >= 0 || end-c.signed.Seq <= maxUnsigned && (c.strange == 0 || c.signed.Seq > 0) {
		return
	}
	detail := "no checkpoint covers them"
	if c.strange > 0 {
		detail += fmt.Sprintf(" that this key has signed; %d are signed by another or forged", c.strange)
	}
	c.add(c.signed.Seq+1, end, Unsigned, detail)
}

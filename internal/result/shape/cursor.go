package shape

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"golang.org/x/crypto/chacha20poly1305"
)

// CursorLife is how long a cursor is valid.
const CursorLife = time.Hour

// Cursors encrypts positions for agents to keep: a cursor can't be read, made or modified by others, and is valid
// only for one principal, query and version of the rules, for CursorLife.
type Cursors struct {
	aead  cipher.AEAD
	nonce []byte // the key for deriving nonces
	now   func() time.Time
}

// NewCursors returns Cursors with a secret of 32 bytes. now is the clock; nil means time.Now.
func NewCursors(secret []byte, now func() time.Time) (*Cursors, error) {
	if len(secret) != 32 {
		return nil, fmt.Errorf("a cursor secret has 32 bytes, not %d", len(secret))
	}
	derive := func(use string) []byte {
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(use))
		return m.Sum(nil)
	}
	aead, err := chacha20poly1305.NewX(derive("cursor"))
	if now == nil {
		now = time.Now
	}
	return &Cursors{aead, derive("nonce"), now}, err
}

// Seal returns the cursor of a position. bound identifies the principal, the query and the rules.
func (c *Cursors) Seal(at policy.Position, bound [32]byte) string {
	// Rounded up, so that the same page requested within a minute has the same cursor.
	expires := c.now().Add(CursorLife + time.Minute).Truncate(time.Minute).Unix()
	plain := binary.BigEndian.AppendUint64(nil, uint64(expires))
	after := make([]value.Value, len(at.After))
	for i, v := range at.After {
		after[i] = tagged(v)
	}
	doc := value.OfArray([]value.Value{value.OfInt(int64(at.Skip)), value.OfBool(at.After != nil), value.OfArray(after)})
	plain = doc.AppendJSON(plain)
	// The nonce is derived from the plaintext: equal positions have equal cursors, and different ones don't share a
	// nonce.
	m := hmac.New(sha256.New, c.nonce)
	m.Write(bound[:])
	m.Write(plain)
	nonce := m.Sum(nil)[:chacha20poly1305.NonceSizeX]
	return base64.RawURLEncoding.EncodeToString(c.aead.Seal(nonce, nonce, plain, bound[:]))
}

// Open returns the position of a cursor sealed with the same bound. Every invalid cursor gives the same
// problem.InvalidArgument, except an expired one.
func (c *Cursors) Open(cursor string, bound [32]byte) (policy.Position, error) {
	bad := &problem.Error{Code: problem.InvalidArgument, Pointer: "/cursor",
		Detail:     "the cursor does not belong to this call",
		Suggestion: "repeat the call that gave it with the same arguments, or start again without a cursor"}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(sealed) < chacha20poly1305.NonceSizeX {
		return policy.Position{}, bad
	}
	nonce, text := sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:]
	plain, err := c.aead.Open(nil, nonce, text, bound[:])
	if err != nil || len(plain) < 8 {
		return policy.Position{}, bad
	}
	// Clocks of replicas differ, and a clock that is set back must not make a cursor good for long.
	left := time.Unix(int64(binary.BigEndian.Uint64(plain)), 0).Sub(c.now())
	if left <= -time.Second || left > 2*CursorLife {
		return policy.Position{}, &problem.Error{Code: problem.InvalidArgument, Pointer: "/cursor",
			Detail: "the cursor has expired", Suggestion: "start again without a cursor"}
	}
	doc, err := value.Read(plain[8:], 0)
	if err != nil {
		return policy.Position{}, bad
	}
	list := doc.List()
	at := policy.Position{Skip: int(list[0].Int())}
	if list[1].Bool() {
		at.After = make([]value.Value, len(list[2].List()))
		for i, v := range list[2].List() {
			at.After[i] = untagged(v)
		}
	}
	return at, nil
}

// tagged encodes a value of a kind that JSON lacks as [kind, number or text].
func tagged(v value.Value) value.Value {
	tag := value.OfInt(int64(v.Kind()))
	switch v.Kind() {
	case value.Date, value.Day:
		return value.OfArray([]value.Value{tag, value.OfInt(v.Micros())})
	case value.Float:
		return value.OfArray([]value.Value{tag, value.OfString(strconv.FormatFloat(v.Float(), 'x', -1, 64))})
	case value.Bytes:
		return value.OfArray([]value.Value{tag, value.OfString(base64.StdEncoding.EncodeToString([]byte(v.Text())))})
	}
	return v
}

func untagged(v value.Value) value.Value {
	if v.Kind() != value.Array {
		return v
	}
	body := v.List()[1]
	switch value.Kind(v.List()[0].Int()) {
	case value.Date:
		return value.OfDate(body.Int())
	case value.Day:
		return value.OfDay(body.Int())
	case value.Float:
		f, _ := strconv.ParseFloat(body.Text(), 64) // sealed by tagged
		return value.OfFloat(f)
	}
	raw, _ := base64.StdEncoding.DecodeString(body.Text()) // sealed by tagged
	return value.OfBytes(string(raw))
}

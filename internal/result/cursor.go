package result

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// life is the time for which a cursor is valid.
const life = time.Hour

// Sealer encrypts positions as cursors for agents. Nobody else can read, create or change a cursor. A cursor is valid
// for only one principal, query and version of the rules, for the time life. Cursors are short, because agents write
// them out. A cursor consists of a tag of 12 bytes and the position in binary form. The tag is also the nonce for the
// encryption (a synthetic nonce).
type Sealer struct {
	block cipher.Block
	tags  []byte // the key for tags
	now   func() time.Time
}

// tagSize is the number of bytes of a tag.
const tagSize = 12

// NewSealer returns a Sealer with a secret of 32 bytes. now is the clock. A nil clock means time.Now.
func NewSealer(secret []byte, now func() time.Time) (*Sealer, error) {
	if len(secret) != 32 {
		return nil, fmt.Errorf("a cursor secret has 32 bytes, not %d", len(secret))
	}
	derive := func(use string) []byte {
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(use))
		return m.Sum(nil)
	}
	block, err := aes.NewCipher(derive("cursor cipher"))
	if now == nil {
		now = time.Now
	}
	return &Sealer{block, derive("cursor tag"), now}, err
}

// tag authenticates a place. The tag also depends on bound, which identifies a call, and on expires, in minutes since
// 1970. Equal places have equal tags, so they have equal cursors. Different places have different nonces.
func (c *Sealer) tag(bound [32]byte, expires int64, place []byte) []byte {
	m := hmac.New(sha256.New, c.tags)
	m.Write(binary.BigEndian.AppendUint64(bound[:], uint64(expires)))
	m.Write(place)
	return m.Sum(nil)[:tagSize]
}

// crypt encrypts or decrypts text in place.
func (c *Sealer) crypt(tag, text []byte) {
	nonce := make([]byte, aes.BlockSize) // the tag, followed by a counter
	copy(nonce, tag)
	cipher.NewCTR(c.block, nonce).XORKeyStream(text, text)
}

// Seal returns the cursor for a position. bound identifies the principal, the query and the rules.
func (c *Sealer) Seal(at policy.Position, bound [32]byte) string {
	// Rounded up to a minute, so that repeated requests for a page within a minute have the same cursor.
	expires := c.now().Add(life+time.Minute).Unix() / 60
	place := appendPlace(nil, at)
	tag := c.tag(bound, expires, place)
	sealed := append(binary.BigEndian.AppendUint16(tag, uint16(expires)), place...)
	c.crypt(sealed[:tagSize], sealed[tagSize:])
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// Open returns the position in a cursor that was sealed with the same bound. The problem.InvalidArgument is the same
// for every invalid cursor, except for an expired one.
func (c *Sealer) Open(cursor string, bound [32]byte) (policy.Position, error) {
	bad := &problem.Error{Code: problem.InvalidArgument, Pointer: "/cursor",
		Detail:     "the cursor does not belong to this call",
		Suggestion: "repeat the call that gave it with the same arguments, or start again without a cursor"}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(sealed) < tagSize+2 {
		return policy.Position{}, bad
	}
	tag, text := sealed[:tagSize], sealed[tagSize:]
	c.crypt(tag, text)
	// A cursor contains the last 16 bits of the minute. The tag is checked with the nearest complete minute that has
	// these bits.
	now := c.now().Unix() / 60
	expires := now + int64(int16(binary.BigEndian.Uint16(text)-uint16(now)))
	if !hmac.Equal(tag, c.tag(bound, expires, text[2:])) {
		return policy.Position{}, bad
	}
	// Clocks of replicas differ. A clock that is set back must not extend the life of a cursor much.
	if left := time.Unix(expires*60, 0).Sub(c.now()); left <= -time.Second || left > 2*life {
		return policy.Position{}, &problem.Error{Code: problem.InvalidArgument, Pointer: "/cursor",
			Detail: "the cursor has expired", Suggestion: "start again without a cursor"}
	}
	at, ok := readPlace(text[2:])
	if !ok {
		return policy.Position{}, bad
	}
	return at, nil
}

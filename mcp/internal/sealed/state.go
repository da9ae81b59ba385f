// Package sealed seals what a client keeps for the server between two requests: the requestState of MCP tools that
// ask back. It refuses what was not sealed here, for somebody else, for another call, too long ago, or used already.
package sealed

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// life is how long a client may take to answer what a tool asks back.
const life = 10 * time.Minute

// A Sealer seals the requestState of tools that ask back. The SDK sends it as it is, so a client could change it,
// answer another's question, or answer one twice. Sealed (AES-256-GCM), it serves the same principal, tool and
// arguments once, within life: at whichever of the replicas that share the key and what was used.
type Sealer struct {
	aead cipher.AEAD
	used once.Store
	now  func() time.Time
}

// A Binding is what a state is good for.
type Binding struct {
	Principal string `json:"p"`
	Tool      string `json:"t"`
	Arguments string `json:"a"` // SHA-256
}

type sealed struct {
	Binding
	Expires int64  `json:"e"` // Unix seconds
	State   string `json:"s"`
}

// New returns a sealer with a key of 32 bytes, the same on all replicas; nil takes a random one. used keeps which states
// were used; nil keeps it in this process.
func New(key []byte, used once.Store) (*Sealer, error) {
	if used == nil {
		used = &once.Memory{}
	}
	if key == nil {
		key = make([]byte, 32)
		rand.Read(key) // never fails: crypto/rand ends the process instead
	}
	if len(key) != 32 {
		return nil, errors.New("server: Options.StateKey must be 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("server: making the state cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("server: making the state cipher: %w", err)
	}
	return &Sealer{aead: aead, used: used, now: time.Now}, nil
}

// Seal returns the text that Open opens for b.
func (s *Sealer) Seal(state string, b Binding) string {
	plain, err := json.Marshal(sealed{Binding: b, Expires: s.now().Add(life).Unix(), State: state})
	if err != nil {
		panic(err) // strings and an integer
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// Open returns the state that was sealed for b, once. An error means that whether it was used before isn't known.
func (s *Sealer) Open(ctx context.Context, text string, b Binding) (string, bool, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", false, nil
	}
	plain, err := s.aead.Open(nil, nil, raw, nil)
	if err != nil {
		return "", false, nil
	}
	var v sealed
	if err := json.Unmarshal(plain, &v); err != nil || v.Binding != b || s.now().Unix() >= v.Expires {
		return "", false, nil
	}
	nonce := raw[:12] // NewGCMWithRandomNonce puts it first
	first, err := s.used.UseUp(ctx, "state "+hex.EncodeToString(nonce), time.Unix(v.Expires, 0))
	if err != nil || !first {
		return "", false, err
	}
	return v.State, true, nil
}

// SetClock sets the clock by which what is sealed expires; New takes time.Now.
func (s *Sealer) SetClock(now func() time.Time) { s.now = now }

// Digest returns the SHA-256 of b in hexadecimal.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

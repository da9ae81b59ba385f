package mcp

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

// life is how long a client may take to answer a question of a tool.
const life = 10 * time.Minute

// A sealer seals the requestState of tools that ask back. The SDK sends it unprotected, so a client could change it,
// use another principal's, or use one twice. Sealed state (AES-256-GCM) is valid once, within life, for the same
// principal, tool and arguments, on all replicas that share the key and the store of used states.
type sealer struct {
	aead cipher.AEAD
	used once.Store
	now  func() time.Time
}

// A binding is the call that a state is bound to.
type binding struct {
	Principal string `json:"p"`
	Tool      string `json:"t"`
	Arguments string `json:"a"` // SHA-256
}

// A sealed is the content of a sealed text: its binding, its end, and the state.
type sealed struct {
	binding
	Expires int64  `json:"e"` // Unix seconds
	State   string `json:"s"`
}

// newSealer returns a sealer with a key of 32 bytes, the same on all replicas. Nil generates a random one. used stores
// which states were used. Nil keeps them in this process.
func newSealer(key []byte, used once.Store) (*sealer, error) {
	if used == nil {
		used = &once.Memory{}
	}
	if key == nil {
		key = make([]byte, 32)
		rand.Read(key) // never fails: crypto/rand ends the process instead
	}
	if len(key) != 32 {
		return nil, errors.New("server: a StateKey must be 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("server: making the state cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("server: making the state cipher: %w", err)
	}
	return &sealer{aead: aead, used: used, now: time.Now}, nil
}

// Seal returns state sealed for b, for Open.
func (s *sealer) Seal(state string, b binding) string {
	plain, err := json.Marshal(sealed{binding: b, Expires: s.now().Add(life).Unix(), State: state})
	if err != nil {
		panic(err) // marshalling strings and an integer can't fail
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// Open returns the state that was sealed for b, once. An error means that the store of used states could not be
// asked.
func (s *sealer) Open(ctx context.Context, text string, b binding) (string, bool, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", false, nil
	}
	plain, err := s.aead.Open(nil, nil, raw, nil)
	if err != nil {
		return "", false, nil
	}
	var v sealed
	if err := json.Unmarshal(plain, &v); err != nil || v.binding != b || !current(v.Expires-s.now().Unix()) {
		return "", false, nil
	}
	nonce := raw[:12] // NewGCMWithRandomNonce puts it first
	first, err := s.used.UseUp(ctx, "state "+hex.EncodeToString(nonce), time.Unix(v.Expires, 0))
	if err != nil || !first {
		return "", false, err
	}
	return v.State, true, nil
}

// current reports whether a state that is good for so many seconds more is good now. Clocks of replicas differ, and a
// clock that was set back must not make a state good for long.
func current(left int64) bool { return left > 0 && left <= int64(2*life/time.Second) }

// SetClock sets the clock by which states expire. The default is time.Now.
func (s *sealer) SetClock(now func() time.Time) { s.now = now }

// digest returns the SHA-256 of b in hexadecimal.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

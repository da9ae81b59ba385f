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

// life is the maximum time for a client to answer a question of a tool.
const life = 10 * time.Minute

// A sealer encrypts the requestState of tools that ask the client for input. The SDK sends the state unprotected. A
// client could change it, use the state of another principal, or use a state twice. Encrypted state (AES-256-GCM) is
// valid once, within life, for the same principal, tool and arguments. This applies to all replicas that share the
// key and the store of used states.
type sealer struct {
	aead cipher.AEAD
	used once.Store
	now  func() time.Time
}

// A binding is the call that a state is bound to.
type binding struct {
	Principal string `json:"p"`
	Tool      string `json:"t"`
	Arguments string `json:"a"` // SHA-256 of the arguments
}

// A sealed is the decrypted content of a state: its binding, its expiry, and the state itself.
type sealed struct {
	binding
	Expires int64  `json:"e"` // in Unix seconds
	State   string `json:"s"`
}

// newSealer returns a sealer with a key of 32 bytes, which must be the same on all replicas. A nil key means a random
// one. The store records which states were used. A nil store means only in this process.
func newSealer(key []byte, used once.Store) (*sealer, error) {
	if used == nil {
		used = &once.Memory{}
	}
	if key == nil {
		key = make([]byte, 32)
		rand.Read(key) // crypto/rand never fails. It ends the process instead
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

// Seal encrypts a state that is bound to b.
func (s *sealer) Seal(state string, b binding) string {
	plain, err := json.Marshal(sealed{binding: b, Expires: s.now().Add(life).Unix(), State: state})
	if err != nil {
		panic(err) // strings and an integer can always be encoded
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// Open decrypts a state that is bound to b. It succeeds only once for each state. An error means that the store of
// used states failed.
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
	nonce := raw[:12] // NewGCMWithRandomNonce puts the nonce first
	first, err := s.used.UseUp(ctx, "state "+hex.EncodeToString(nonce), time.Unix(v.Expires, 0))
	if err != nil || !first {
		return "", false, err
	}
	return v.State, true, nil
}

// current reports whether a state is valid. left is the time until its expiry in seconds. The upper limit tolerates
// different clocks of replicas. It also rejects a state that would stay valid for long after a clock was set back.
func current(left int64) bool { return left > 0 && left <= int64(2*life/time.Second) }

// SetClock sets the clock for the expiry of states. The default is time.Now.
func (s *sealer) SetClock(now func() time.Time) { s.now = now }

// digest returns the SHA-256 of b in hexadecimal.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

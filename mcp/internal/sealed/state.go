// Package sealed seals what a client keeps for the server between two requests: the requestState of MCP tools that
// ask back. It refuses what was not sealed here, for somebody else, for another call, too long ago, or used already.
package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// life is how long a client may take to answer what a tool asks back.
const life = 10 * time.Minute

// A Sealer seals the requestState of tools that ask back. The SDK sends it as it is, so a client could change it,
// answer another's question, or answer one twice. Sealed (AES-256-GCM), it serves the same principal, tool and
// arguments once, within life. That it is used once is kept by this process only.
type Sealer struct {
	aead cipher.AEAD
	now  func() time.Time

	mu   sync.Mutex
	used map[string]time.Time // nonce to when it expires
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

// New returns a sealer with a key of 32 bytes, the same on all replicas; nil takes a random one.
func New(key []byte) (*Sealer, error) {
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
	return &Sealer{aead: aead, now: time.Now, used: map[string]time.Time{}}, nil
}

// Seal returns the text that Open opens for b.
func (s *Sealer) Seal(state string, b Binding) string {
	plain, err := json.Marshal(sealed{Binding: b, Expires: s.now().Add(life).Unix(), State: state})
	if err != nil {
		panic(err) // strings and an integer
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// Open returns the state that was sealed for b, once.
func (s *Sealer) Open(text string, b Binding) (string, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", false
	}
	plain, err := s.aead.Open(nil, nil, raw, nil)
	if err != nil {
		return "", false
	}
	var v sealed
	if err := json.Unmarshal(plain, &v); err != nil || v.Binding != b {
		return "", false
	}
	now := s.now()
	if now.Unix() >= v.Expires {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for nonce, expires := range s.used {
		if !now.Before(expires) {
			delete(s.used, nonce)
		}
	}
	nonce := string(raw[:12]) // NewGCMWithRandomNonce puts it first
	if _, ok := s.used[nonce]; ok {
		return "", false
	}
	s.used[nonce] = time.Unix(v.Expires, 0)
	return v.State, true
}

// SetClock sets the clock by which what is sealed expires; New takes time.Now.
func (s *Sealer) SetClock(now func() time.Time) { s.now = now }

// Digest returns the SHA-256 of b in hexadecimal.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

package server

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

// stateLife is how long a client may take to answer what a tool asks back.
const stateLife = 10 * time.Minute

// states seals the requestState of tools that ask back. The SDK sends it as it is, so a client could change it,
// answer another's question, or answer one twice. Sealed (AES-256-GCM), it serves the same principal, tool and
// arguments once, within stateLife. That it is used once is kept by this process only.
type states struct {
	aead cipher.AEAD
	now  func() time.Time

	mu   sync.Mutex
	used map[string]time.Time // nonce to when it expires
}

// A stateBinding is what a state is good for.
type stateBinding struct {
	Principal string `json:"p"`
	Tool      string `json:"t"`
	Arguments string `json:"a"` // SHA-256
}

type sealedState struct {
	stateBinding
	Expires int64  `json:"e"` // Unix seconds
	State   string `json:"s"`
}

func newStates(key []byte) (*states, error) {
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
	return &states{aead: aead, now: time.Now, used: map[string]time.Time{}}, nil
}

func (s *states) seal(state string, b stateBinding) string {
	plain, err := json.Marshal(sealedState{stateBinding: b, Expires: s.now().Add(stateLife).Unix(), State: state})
	if err != nil {
		panic(err) // strings and an integer
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// open returns the state that was sealed for b, once.
func (s *states) open(sealed string, b stateBinding) (string, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return "", false
	}
	plain, err := s.aead.Open(nil, nil, raw, nil)
	if err != nil {
		return "", false
	}
	var v sealedState
	if err := json.Unmarshal(plain, &v); err != nil || v.stateBinding != b {
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

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

package mcp

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// sessionLife is the time after its beginning for which a process without the session can continue it.
const sessionLife = 24 * time.Hour

// Sessions makes IDs of sessions that every process with the same key can continue. An ID contains the client's
// initialize data, encrypted for its principal (AES-256-GCM).
type Sessions struct {
	aead  cipher.AEAD
	ended once.Store
}

// newSessions returns Sessions with a key of 32 bytes. The store ended records which sessions their clients have
// ended.
func newSessions(key []byte, ended once.Store) (*Sessions, error) {
	if len(key) != 32 {
		return nil, errors.New("server: a SessionKey must be 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("server: making the session cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("server: making the session cipher: %w", err)
	}
	return &Sessions{aead: aead, ended: ended}, nil
}

// sessionBinding returns the data that binds an ID to its principal.
func sessionBinding(principal string) []byte { return []byte("session of " + principal) }

// Seal returns the ID for a session of principal that begins now.
func (s *Sessions) Seal(principal string, client []byte) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()))
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, append(plain, client...), sessionBinding(principal)))
}

// Open returns the initialize data in the session ID of principal. ok is false if the ID belongs to another
// principal, was not made with this key, is too old or has been ended.
func (s *Sessions) Open(ctx context.Context, principal, id string) (client []byte, ok bool, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id)
	if err != nil {
		return nil, false, nil
	}
	plain, err := s.aead.Open(nil, nil, raw, sessionBinding(principal))
	if err != nil || len(plain) < 8 {
		return nil, false, nil
	}
	age := time.Since(time.Unix(int64(binary.BigEndian.Uint64(plain)), 0))
	if age > sessionLife || age < -sessionLife { // the clocks of replicas differ
		return nil, false, nil
	}
	ended, err := s.ended.UsedUp(ctx, endedName(id))
	if err != nil || len(ended) > 0 {
		return nil, false, err
	}
	return plain[8:], true, nil
}

// End records that a client has ended its session.
func (s *Sessions) End(ctx context.Context, id string) error {
	_, err := s.ended.UseUp(ctx, endedName(id), time.Now().Add(2*sessionLife))
	return err
}

func endedName(id string) string { return "session " + digest([]byte(id)) }

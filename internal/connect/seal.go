package connect

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// tokens is the sealed part of a connection.
type tokens struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // when Access expires, or zero if unknown
	Since   time.Time `json:"since"`            // when the person connected
}

// keyID is the length of the mark at the start of a sealed text, in bytes.
const keyID = 4

// A box seals texts with one key, by AES-256-GCM with random nonces.
type box struct {
	mark [keyID]byte // identifies the key
	aead cipher.AEAD
}

// newBox returns a box for a key of 32 bytes. Its mark, a digest of the key, identifies the key that sealed a text.
func newBox(key []byte) (box, error) {
	if len(key) != 32 {
		return box{}, errors.New("connect: the key that seals connections has 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return box{}, fmt.Errorf("connect: make the cipher: %w", err)
	}
	b := box{}
	sum := sha256.Sum256(append([]byte("bailiwick connections\x00"), key...))
	copy(b.mark[:], sum[:])
	b.aead, err = cipher.NewGCMWithRandomNonce(block)
	return b, err
}

// additionalData returns the additional data of a sealed connection: its key, and the client at the provider. With
// another configuration of the source, the connection can't be opened, so no token is sent to another server.
func (c *Connections) additionalData(k Key) ([]byte, error) {
	a := c.accounts[k.Source]
	if a == nil {
		return nil, errNotOpened
	}
	return json.Marshal([]string{"connection", k.Source, k.Tenant, k.Person, a.provider.TokenURL, a.provider.ID})
}

var errNotOpened = errors.New("the connection was sealed with another key, for another provider or for another person")

// seal encrypts t with the first key and binds it to k, so that a row can't replace another person's row. The result
// begins with the mark.
func (c *Connections) seal(k Key, t tokens) ([]byte, error) {
	plain, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	bound, err := c.additionalData(k)
	if err != nil {
		return nil, err
	}
	b := c.boxes[0]
	return b.aead.Seal(b.mark[:], nil, plain, bound), nil
}

// open returns the tokens of r.
func (c *Connections) open(r Row) (tokens, error) {
	var t tokens
	bound, err := c.additionalData(r.Key)
	if err != nil || len(r.Sealed) < keyID {
		return t, errNotOpened
	}
	for _, b := range c.boxes {
		if [keyID]byte(r.Sealed) != b.mark {
			continue
		}
		if plain, err := b.aead.Open(nil, nil, r.Sealed[keyID:], bound); err == nil {
			return t, json.Unmarshal(plain, &t)
		}
	}
	return t, errNotOpened
}

// current reports whether r was sealed with the newest key.
func (c *Connections) current(r Row) bool {
	return len(r.Sealed) >= keyID && [keyID]byte(r.Sealed) == c.boxes[0].mark
}

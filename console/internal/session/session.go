// Package session keeps a person signed in to the console, in a sealed cookie.
//
// The cookie contains the person's credential, sealed so that the browser can neither read nor change it
// (AES-256-GCM). The console authenticates the credential anew for each request, so that revoking a token ends the
// session at once, and every replica with the same key accepts it. A cookie is refused if it was not sealed here, was
// idle or open for too long, or was signed out.
package session

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// Default durations.
const (
	Idle = time.Hour
	Life = 12 * time.Hour
)

// Options configure a Keeper. The zero value is valid.
type Options struct {
	Key  []byte           // 32 bytes, the same on all replicas; nil generates random ones, so that sessions end with the process
	Idle time.Duration    // maximum time without a request; 0 means the constant Idle
	Life time.Duration    // maximum time since sign-in; 0 means the constant Life
	Used once.Store       // stores which sessions were signed out, for all replicas; nil keeps them in this process
	Now  func() time.Time // nil means time.Now
}

// A Session is a signed-in session of one person. The zero Session belongs to no one.
type Session struct {
	ID         string    `json:"i"` // random; new at each sign-in
	Credential string    `json:"c"` // the credential used to sign in
	Began      time.Time `json:"b"`
	Seen       time.Time `json:"s"` // of the last request, to the minute
}

// A Keeper seals and opens sessions. It is safe for concurrent use.
type Keeper struct {
	aead  cipher.AEAD
	forms []byte // key of the tokens in forms
	idle  time.Duration
	life  time.Duration
	now   func() time.Time
	used  once.Store
}

// New returns a Keeper with options o.
func New(o Options) (*Keeper, error) {
	if o.Key == nil {
		o.Key = make([]byte, 32)
		rand.Read(o.Key) // never fails
	}
	if len(o.Key) < 32 {
		return nil, errors.New("session: the key must have at least 32 bytes")
	}
	sealing, err := hkdf.Key(sha256.New, o.Key, nil, "console session", 32)
	if err != nil {
		return nil, fmt.Errorf("session: derive the key: %w", err)
	}
	forms, err := hkdf.Key(sha256.New, o.Key, nil, "console forms", 32)
	if err != nil {
		return nil, fmt.Errorf("session: derive the key: %w", err)
	}
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return nil, fmt.Errorf("session: make the cipher: %w", err)
	}
	k := &Keeper{forms: forms, idle: cmp.Or(o.Idle, Idle), life: cmp.Or(o.Life, Life), now: o.Now,
		used: o.Used}
	if k.now == nil {
		k.now = time.Now
	}
	if k.used == nil {
		k.used = &once.Memory{}
	}
	if k.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, fmt.Errorf("session: make the cipher: %w", err)
	}
	return k, nil
}

// Begin returns a new session for credential.
func (k *Keeper) Begin(credential string) Session {
	now := k.now().UTC()
	return Session{ID: random(), Credential: credential, Began: now, Seen: now}
}

// Seal returns the value of a cookie called name that contains s.
func (k *Keeper) Seal(s Session, name string) string {
	plain, err := json.Marshal(s)
	if err != nil {
		panic(err) // marshalling strings and times of this century can't fail
	}
	return base64.RawURLEncoding.EncodeToString(k.aead.Seal(nil, nil, plain, []byte(name)))
}

// ErrNone means that a cookie contains no session, or one that has ended.
var ErrNone = errors.New("session: there is none")

// Open returns the session in the value of a cookie called name. renewed means that it should be sealed again, to
// update its time of last use. Errors other than ErrNone mean that the store of ended sessions could not be asked.
func (k *Keeper) Open(ctx context.Context, text, name string) (s Session, renewed bool, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return Session{}, false, ErrNone
	}
	plain, err := k.aead.Open(nil, nil, raw, []byte(name))
	if err != nil || json.Unmarshal(plain, &s) != nil || s.ID == "" {
		return Session{}, false, ErrNone
	}
	if err := k.Holds(ctx, s); err != nil {
		return Session{}, false, err
	}
	now := k.now().UTC()
	if now.Sub(s.Seen) < min(time.Minute, k.idle/4) {
		return s, false, nil
	}
	s.Seen = now
	return s, true, nil
}

// End makes every copy of s invalid, on all replicas, until it would have expired.
func (k *Keeper) End(ctx context.Context, s Session) error {
	_, err := k.used.UseUp(ctx, "session "+s.ID, s.Began.Add(k.life))
	return err
}

// Holds returns nil if s is still valid, and ErrNone if it was signed out, or idle or open for too long.
func (k *Keeper) Holds(ctx context.Context, s Session) error {
	now := k.now()
	if now.Sub(s.Began) >= k.life || now.Sub(s.Seen) >= k.idle {
		return ErrNone
	}
	ended, err := k.used.UsedUp(ctx, "session "+s.ID)
	if err == nil && ended {
		err = ErrNone
	}
	return err
}

// Mark returns the form token for the session or visitor id, which prevents forms of other sites.
func (k *Keeper) Mark(id string) string {
	mac := hmac.New(sha256.New, k.forms)
	mac.Write([]byte(id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Genuine reports whether mark is the form token of id.
func (k *Keeper) Genuine(id, mark string) bool {
	return id != "" && hmac.Equal([]byte(k.Mark(id)), []byte(mark))
}

// Visitor returns a new random ID for a visitor who is not signed in.
func (k *Keeper) Visitor() string { return random() }

// An offer is a one-time sign-in.
type offer struct {
	ID         string    `json:"i"` // random
	Credential string    `json:"c"`
	Until      time.Time `json:"u"`
}

// offering binds the seal of an offer, so that neither a session nor an offer passes for the other.
const offering = "one-time sign-in"

// Offer returns a code that signs in once, with credential, within life: at any replica with the same key.
func (k *Keeper) Offer(credential string, life time.Duration) (code string) {
	plain, err := json.Marshal(offer{random(), credential, k.now().UTC().Add(life)})
	if err != nil {
		panic(err) // marshalling strings and times of this century can't fail
	}
	return base64.RawURLEncoding.EncodeToString(k.aead.Seal(nil, nil, plain, []byte(offering)))
}

// Redeem returns the credential of a code, and invalidates the code on all replicas. It fails with ErrNone if the code was
// not sealed here, was used or is too old, and with another error if the store could not be asked.
func (k *Keeper) Redeem(ctx context.Context, code string) (credential string, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(code)
	if err != nil {
		return "", ErrNone
	}
	var o offer
	plain, err := k.aead.Open(nil, nil, raw, []byte(offering))
	if err != nil || json.Unmarshal(plain, &o) != nil || o.ID == "" || !k.now().Before(o.Until) {
		return "", ErrNone
	}
	first, err := k.used.UseUp(ctx, "offer "+o.ID, o.Until.Add(k.life))
	if err == nil && !first {
		err = ErrNone
	}
	if err != nil {
		return "", err
	}
	return o.Credential, nil
}

// random returns 128 random bits as text.
func random() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

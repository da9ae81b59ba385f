// Package session keeps a person signed in to the console, in a sealed cookie.
//
// It stands at the console's door, before everything else there. The cookie holds the person's credential, sealed so
// that the browser can neither read nor change it (AES-256-GCM); the console has it authenticated anew for each request,
// so that a token that is revoked ends the session at once, and any replica with the same key knows the session. It
// refuses a cookie that was not sealed here, that was idle or open for too long, or that somebody signed out of.
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
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// How long a session is good for when nobody says otherwise.
const (
	Idle = time.Hour
	Life = 12 * time.Hour
)

// Options say how a Keeper works. The zero of each field but Key is good.
type Options struct {
	Key  []byte           // 32 bytes, the same on all replicas; nil takes random ones, so that sessions end with the process
	Idle time.Duration    // without a request; 0 takes Idle
	Life time.Duration    // from the sign-in on; 0 takes Life
	Used once.Store       // keeps which sessions somebody signed out of, for all replicas; nil keeps it in this process
	Now  func() time.Time // nil takes time.Now
}

// A Session is one stay of a person. The zero Session is nobody's.
type Session struct {
	ID         string    `json:"i"` // random; new at each sign-in
	Credential string    `json:"c"` // what the person showed
	Began      time.Time `json:"b"`
	Seen       time.Time `json:"s"` // of the last request, to a minute
}

// A Keeper seals sessions and opens them. It is safe for use by several goroutines.
type Keeper struct {
	aead  cipher.AEAD
	forms []byte // signs what stands in forms
	idle  time.Duration
	life  time.Duration
	now   func() time.Time

	used once.Store

	mu    sync.Mutex
	links map[[sha256.Size]byte]link
}

// A link is a sign-in that is offered once.
type link struct {
	credential string
	until      time.Time
}

// New returns a Keeper.
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
		used: o.Used, links: map[[sha256.Size]byte]link{}}
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

// Begin returns a new session of who showed credential.
func (k *Keeper) Begin(credential string) Session {
	now := k.now().UTC()
	return Session{ID: random(), Credential: credential, Began: now, Seen: now}
}

// Seal returns the text that stands for s in a cookie called name.
func (k *Keeper) Seal(s Session, name string) string {
	plain, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and times of this century
	}
	return base64.RawURLEncoding.EncodeToString(k.aead.Seal(nil, nil, plain, []byte(name)))
}

// ErrNone says that a cookie stands for no session, or for one that has ended.
var ErrNone = errors.New("session: there is none")

// Open returns the session that was sealed for a cookie called name. renewed says that it is to be sealed again, so
// that it is seen to be in use. Where it is not ErrNone, an error means that whether the session has ended isn't known.
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

// End has every copy of s refused, at all replicas, until it would have ended by itself.
func (k *Keeper) End(ctx context.Context, s Session) error {
	_, err := k.used.UseUp(ctx, "session "+s.ID, s.Began.Add(k.life))
	return err
}

// Holds reports, by nil, whether s is still good, and by ErrNone that it isn't: signed out of, idle or open for too long.
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

// Mark returns what a form of the session, or of a visitor, called id holds, so that no other site can send it.
func (k *Keeper) Mark(id string) string {
	mac := hmac.New(sha256.New, k.forms)
	mac.Write([]byte(id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Genuine reports whether mark is that of id.
func (k *Keeper) Genuine(id, mark string) bool {
	return id != "" && hmac.Equal([]byte(k.Mark(id)), []byte(mark))
}

// Visitor returns a new random name for somebody who is not signed in.
func (k *Keeper) Visitor() string { return random() }

// Offer returns a code that signs in once, with credential, within life. It is kept by this process only.
func (k *Keeper) Offer(credential string, life time.Duration) (code string) {
	code = random()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.links[sha256.Sum256([]byte(code))] = link{credential, k.now().Add(life)}
	return code
}

// Redeem returns the credential that a code stands for, and takes the code out of use.
func (k *Keeper) Redeem(code string) (credential string, ok bool) {
	sum := sha256.Sum256([]byte(code))
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.links[sum]
	delete(k.links, sum)
	return l.credential, ok && k.now().Before(l.until)
}

// random returns 128 random bits as text.
func random() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

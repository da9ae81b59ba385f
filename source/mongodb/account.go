package mongodb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

// An account is the way to the server under one URL. The driver's client keeps its first user and password, so a new
// secret requires a new client. A call uses the same client until its end. A former client is closed when the last of
// its calls has ended. An account is safe for concurrent use.
type account struct {
	options *Options
	url     string // the URL with which it was opened
	concern *writeconcern.WriteConcern

	renewing sync.Mutex // held while a new client is tried

	mu   sync.Mutex
	now  *pool
	open map[*pool]int // the open clients, with the number of their calls
	over bool          // whether the account is closed
}

// A pool is a client with its connections.
type pool struct {
	url    string
	client *mongo.Client
	db     *mongo.Database
}

// open returns the account of a URL. It fails if the server doesn't accept the URL's user and password.
func (o *Options) open(ctx context.Context, url string, concern *writeconcern.WriteConcern) (*account, error) {
	a := &account{options: o, url: url, concern: concern}
	p, err := a.connect(ctx, url)
	if err != nil {
		return nil, err
	}
	a.now, a.open = p, map[*pool]int{p: 0}
	return a, nil
}

// connect returns a new client of a URL. It fails if the server doesn't accept the URL's user and password.
func (a *account) connect(ctx context.Context, url string) (*pool, error) {
	name := a.options.Name
	parsed, err := connstring.ParseAndValidate(url)
	if err != nil { // the error would quote the URL with its password
		return nil, fmt.Errorf("source %s: the URL is not of the form mongodb://user:password@host/database", name)
	}
	if parsed.Database == "" {
		return nil, fmt.Errorf("source %s: the URL names no database: mongodb://host/database", name)
	}
	settings := options.Client().ApplyURI(url).SetAppName("bailiwick").SetRetryWrites(false)
	if parsed.ServerSelectionTimeout == 0 {
		settings.SetServerSelectionTimeout(10 * time.Second)
	}
	if a.concern != nil {
		settings.SetWriteConcern(a.concern)
	}
	client, err := mongo.Connect(settings)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, driverReason(err))
	}
	p := &pool{url: url, client: client, db: client.Database(parsed.Database)}
	if err := p.ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: %w", name, driverReason(err)), p.close())
	}
	return p, nil
}

// ping checks that the server answers.
func (p *pool) ping(ctx context.Context) error {
	return p.db.RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
}

func (p *pool) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return p.client.Disconnect(ctx)
}

// use returns the client for a call. The caller ends the call with done.
func (a *account) use() (p *pool, done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now, a.count(a.now)
}

// again counts another part of a call that uses p. The caller ends that part with done.
func (a *account) again(p *pool) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count(p)
}

// count counts a new call of p. The caller must hold a.mu.
func (a *account) count(p *pool) (done func()) {
	a.open[p]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.open[p]--
		a.retire(p)
	}
}

// retire closes p if it is a former client without calls. The caller must hold a.mu.
func (a *account) retire(p *pool) {
	if a.open[p] <= 0 && p != a.now {
		delete(a.open, p)
		go p.close()
	}
}

// renew replaces the client if the configuration has another user or password than used, and the server accepts them.
// It returns true if the client is no longer used. The error is the reason why the new client is not in use.
func (a *account) renew(ctx context.Context, used *pool) (bool, error) {
	a.renewing.Lock()
	defer a.renewing.Unlock()
	a.mu.Lock()
	now := a.now
	a.mu.Unlock()
	if now != used {
		return true, nil
	}
	if a.options.Current == nil {
		return false, nil
	}
	url, ok := a.options.Current(a.url)
	if !ok || url == now.url {
		return false, nil
	}
	p, err := a.connect(ctx, url)
	if err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false, p.close()
	}
	a.now, a.open[p] = p, 0
	a.retire(now)
	return true, nil
}

// close closes all clients, even those with calls.
func (a *account) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for p := range a.open {
		errs = append(errs, p.close())
	}
	a.open, a.over = map[*pool]int{}, true
	return errors.Join(errs...)
}

// refusesAccount reports whether the server rejects the user or the password, or the user lacks a right.
func refusesAccount(err error) bool {
	if f, ok := errors.AsType[*failure](err); ok {
		err = f.err
	}
	if err == nil {
		return false
	}
	server, is := errors.AsType[mongo.ServerError](err)
	return is && (server.HasErrorCode(unauthorized) || server.HasErrorCode(authenticationFailed)) ||
		strings.Contains(err.Error(), "auth error") // the driver's error for a connection to any of the servers
}

// use returns s for one call, with the client for that call. The caller ends the call with done.
func (s *Source) use() (in *Source, done func()) {
	one := *s
	one.pool, done = s.account.use()
	return &one, done
}

// once runs a call without a retry.
func (s *Source) once(call func(in *Source) error) (*Source, error) {
	in, done := s.use()
	defer done()
	return in, call(in)
}

// with runs a call. It runs the call again if the server rejects the account and the configuration now has another
// account. A call that has already returned a part of its answer can't run again, so it handles the error itself.
func (s *Source) with(ctx context.Context, call func(in *Source) error) error {
	for {
		in, err := s.once(call)
		if ctx.Err() != nil || !refusesAccount(err) {
			return err
		}
		if other, _ := s.account.renew(ctx, in.pool); !other {
			return err
		}
	}
}

// once runs a call without a retry.
func (w *Writable) once(call func(in *Writable) error) (*Writable, error) {
	in := *w
	var read, wrote func()
	in.Source, read = w.Source.use()
	defer read()
	in.to, wrote = w.writer.use()
	defer wrote()
	return &in, call(&in)
}

// with runs a call that reads and writes, in the same way as Source.with.
func (w *Writable) with(ctx context.Context, call func(in *Writable) error) error {
	for {
		in, err := w.once(call)
		if ctx.Err() != nil || !refusesAccount(err) {
			return err
		}
		reader, _ := w.account.renew(ctx, in.pool)
		writer, _ := w.writer.renew(ctx, in.to)
		if !reader && !writer {
			return err
		}
	}
}

// Renew uses the configured user and password for all further calls. If the server doesn't accept them, the present
// user and password remain in use. Renew's user and password are tried again when the server rejects the present
// ones.
func (s *Source) Renew(ctx context.Context) error { return s.account.replace(ctx) }

// Renew is like Source.Renew, for reads and writes.
func (w *Writable) Renew(ctx context.Context) error {
	err := w.Source.Renew(ctx)
	if failed := w.writer.replace(ctx); err == nil {
		err = failed // one error is enough
	}
	return err
}

// replace renews the client that is in use.
func (a *account) replace(ctx context.Context) error {
	a.mu.Lock()
	now := a.now
	a.mu.Unlock()
	_, err := a.renew(ctx, now)
	return err
}

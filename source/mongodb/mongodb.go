// Package mongodb is the source for MongoDB, and for servers that speak its protocol.
//
// A query of an agent becomes one aggregation that begins with the view, written by internal/mongogen. Steps that the
// server can't do with the same meaning are done here, over the records of views that are left, within a bound. No
// message of the server reaches a caller.
package mongodb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Options are how a database is opened. The zero value of each but Name and URL is the safe one.
type Options struct {
	Name string // of the source
	URL  string // mongodb://user:password@host/database, or mongodb+srv://…. It must name the database

	// Current returns a URL with the user and the password that are configured now, and false if they can't be known. Nil
	// keeps those of the URL.
	Current func(url string) (string, bool)

	// LocalRows is the most records that a query may read here to finish what the server can't do, or 0 for 10,000.
	LocalRows int
	// Full says that the server runs the whole aggregation language of MongoDB 7.0, although it doesn't report so.
	Full bool
	// Single says that changes are written one record at a time, without transactions, although the server has them.
	Single bool
	// Collections are by name.
	Collections map[string]Collection
	// Declared are descriptions of classes that replace what is found, by the collection's name. A key that isn't _id counts
	// only if a unique index is on it.
	Declared map[string]schema.Class
}

// A Collection has facts about a collection that the server doesn't report.
type Collection struct {
	Fields map[string]string // the BSON type by field, in place of the type of a validator or the sample
	Index  string            // of Atlas Search, which serves text searches, or ""
	Search []string          // the fields of texts that it searches
}

// A Source is one database. It is safe for concurrent use.
type Source struct {
	options Options
	account *account
	pool    *pool // of the call that this copy of the Source is for. Nil outside of calls
	level   mongogen.Level
	sets    bool // transactions work: it is a replica set or a sharded cluster
	choice  schema.Choice
}

// Open connects to a database. MongoDB has no connections that can't write: use an account that may only read. Errors
// don't quote the URL, which may hold a password.
func Open(ctx context.Context, o Options) (*Source, error) {
	s := &Source{options: o}
	var err error
	if s.account, err = o.open(ctx, o.URL, nil); err != nil {
		return nil, err
	}
	in, done := s.use()
	defer done()
	if err := in.greet(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: %w", o.Name, driverReason(err)), s.Close())
	}
	s.level, s.sets = in.level, in.sets
	return s, nil
}

// greet asks the server what it is.
func (s *Source) greet(ctx context.Context) error {
	var is struct {
		Version  string `bson:"version"`
		FerretDB any    `bson:"ferretdb"`
		Ferret   string `bson:"ferretdbVersion"`
	}
	if err := s.pool.db.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&is); err != nil {
		return err
	}
	major, _, _ := strings.Cut(is.Version, ".")
	if n, err := strconv.Atoi(major); s.options.Full || err == nil && n >= 7 && is.FerretDB == nil && is.Ferret == "" {
		s.level = mongogen.MongoDB
	}
	var hello struct {
		Set string `bson:"setName"`
		Msg string `bson:"msg"`
	}
	if err := s.pool.db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		return err
	}
	s.sets = s.level == mongogen.MongoDB && !s.options.Single && (hello.Set != "" || hello.Msg == "isdbgrid")
	return nil
}

// driverReason returns the reason of an error of the driver in one line, without the server's message.
func driverReason(err error) error {
	if c, ok := errors.AsType[mongo.CommandError](err); ok {
		return fmt.Errorf("the server refuses (%s, code %d)", c.Name, c.Code)
	}
	if why := selection(err); why != "" {
		return errors.New("no server can be reached: " + why)
	}
	if mongo.IsTimeout(err) || errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no server answers in time")
	}
	if s, ok := errors.AsType[mongo.ServerError](err); ok && s != nil {
		return errors.New("the server refuses")
	}
	return errors.New("no server can be reached, or it refuses the account")
}

// Close closes all connections.
func (s *Source) Close() error { return s.account.close() }

// Ping implements source.Pinger.
func (s *Source) Ping(ctx context.Context) error {
	return s.with(ctx, func(in *Source) error {
		if err := in.pool.ping(ctx); err != nil {
			return refuse(ctx, err)
		}
		return nil
	})
}

// Estimate implements source.Estimator, from the counts that the server keeps.
func (s *Source) Estimate(ctx context.Context) (out map[string]int64, err error) {
	err = s.with(ctx, func(in *Source) error {
		out, err = in.estimate(ctx)
		return err
	})
	return out, err
}

// estimate returns the counts of Estimate from one client, so that it can be run again with another.
func (s *Source) estimate(ctx context.Context) (map[string]int64, error) {
	out := map[string]int64{}
	names, err := s.collections(ctx)
	if err != nil {
		return nil, refuse(ctx, err)
	}
	for _, c := range names {
		if c.Type == "view" {
			continue
		}
		var n struct {
			N int64 `bson:"n"`
		}
		if err := s.pool.db.RunCommand(ctx, bson.D{{Key: "count", Value: c.Name}}).Decode(&n); err != nil {
			return nil, refuse(ctx, err)
		}
		if name, _ := s.choice.Of("", c.Name); name != "" {
			out[name] = n.N
		}
	}
	return out, nil
}

// A found is a collection or a view of the database.
type found struct {
	Name    string `bson:"name"`
	Type    string `bson:"type"`
	Options struct {
		Validator struct {
			Schema bson.Raw `bson:"$jsonSchema"`
		} `bson:"validator"`
		ViewOn   string   `bson:"viewOn"`   // of a view: the collection that it reads
		Pipeline []bson.D `bson:"pipeline"` // of a view
	} `bson:"options"`
}

// collections lists the collections and views, without the server's own and ours.
func (s *Source) collections(ctx context.Context) ([]found, error) {
	cursor, err := s.pool.db.ListCollections(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	var all []found
	if err := cursor.All(ctx, &all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c found) bool { return strings.HasPrefix(c.Name, "system.") || strings.HasPrefix(c.Name, own) })
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// own begins the names of the collections in which writes keep their markers.
const own = "bailiwick_"

// failure is an error without the server's message.
type failure struct{ err error }

func (f *failure) Error() string {
	if c, ok := errors.AsType[mongo.CommandError](f.err); ok {
		return fmt.Sprintf("the server refused the command: %s, code %d", c.Name, c.Code)
	}
	if w, ok := errors.AsType[mongo.WriteException](f.err); ok && len(w.WriteErrors) > 0 {
		return fmt.Sprintf("the server refused the write: code %d", w.WriteErrors[0].Code)
	}
	return "the server can't be reached, or doesn't answer"
}

// LogText implements the interface of errors whose text may be logged.
func (f *failure) LogText() string { return f.Error() }

// refuse turns an error of the driver into one for the caller.
func refuse(ctx context.Context, err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	p := &problem.Error{Code: problem.Upstream, Detail: "the source could not answer", Err: &failure{err},
		Suggestion: "try again later; if it stays, tell the operator the correlation id"}
	command, is := errors.AsType[mongo.CommandError](err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), ctx.Err() == nil && is && command.Code == maxTimeExpired,
		ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		p.Code, p.Detail = problem.Timeout, "the query took too long and was stopped"
		p.Suggestion = "ask for less: a narrower where, fewer keys, a smaller limit"
	case ctx.Err() != nil:
		p.Code, p.Detail, p.Suggestion = problem.Cancelled, "the call was cancelled", ""
	}
	return p
}

// maxTimeExpired is the code of MaxTimeMSExpired.
const maxTimeExpired = 50

// comment returns a new name for a command, by which it is found among those that run.
func comment() string {
	b := make([]byte, 12)
	if _, err := rand.Read(b); err != nil {
		panic(err) // never fails
	}
	return "bailiwick " + hex.EncodeToString(b)
}

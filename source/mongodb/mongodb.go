// Package mongodb is the source for MongoDB, and for servers that speak its protocol.
//
// An agent's query becomes one aggregation, which internal/mongogen writes and which begins with the view. The
// gateway itself computes steps that the server can't run with the same meaning. It computes them over the remaining
// records of views, up to a limit. The server's messages never reach a caller.
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

// Options describe how to open a database. For all fields except Name and URL, the zero value is the safe one.
type Options struct {
	Name string // of the source
	URL  string // mongodb://user:password@host/database, or mongodb+srv://…. It must contain the database

	// Current returns the URL with the presently configured user and password, and false if they are unknown. If
	// Current is nil, the source always uses the user and password of the URL.
	Current func(url string) (string, bool)

	// LocalRows is the maximum number of records that the gateway may read to finish a query that the server can't
	// run completely. 0 means 10,000.
	LocalRows int
	// Full declares that the server runs the whole aggregation language of MongoDB 7.0, although it doesn't report
	// so.
	Full bool
	// Single requires that changes write one record at a time, without transactions, even if the server has
	// transactions.
	Single bool
	// Collections contains facts about collections, by name.
	Collections map[string]Collection
	// Declared contains descriptions of classes, by collection name. They replace the classes that the source found.
	// A key other than _id counts only if a unique index covers it.
	Declared map[string]schema.Class
}

// A Collection contains facts about a collection that the server doesn't report.
type Collection struct {
	Fields map[string]string // the BSON type by field, in place of the type from the validator or the sample
	Index  string            // the index of Atlas Search for text searches, or ""
	Search []string          // the text fields that Index searches
}

// A Source is one database. It is safe for concurrent use.
type Source struct {
	options Options
	account *account
	pool    *pool // the client of the call that uses this copy, or nil outside of calls
	level   mongogen.Level
	sets    bool // whether transactions work: the server is a replica set or a sharded cluster
	choice  schema.Choice
}

// Open connects to a database. MongoDB has no read-only connections, so use an account that may only read. Errors
// don't quote the URL, which may contain a password.
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

// greet reads the server's product, version and kind.
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

// driverReason returns the reason of a driver's error in one line, without the server's message.
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

// Estimate implements source.Estimator from the server's own counts.
func (s *Source) Estimate(ctx context.Context) (out map[string]int64, err error) {
	err = s.with(ctx, func(in *Source) error {
		out, err = in.estimate(ctx)
		return err
	})
	return out, err
}

// estimate implements Estimate with one client. It can run again with another client.
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
		ViewOn   string   `bson:"viewOn"`   // the collection that a view reads
		Pipeline []bson.D `bson:"pipeline"` // the pipeline of a view
	} `bson:"options"`
}

// collections lists the collections and views, except collections of the server and of the gateway.
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

// own is the name prefix of the collections in which writes store their markers.
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

// LogText implements the interface of errors that may be logged.
func (f *failure) LogText() string { return f.Error() }

// refuse turns an error of the driver into an error for the caller.
func refuse(ctx context.Context, err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	p := &problem.Error{Code: problem.Upstream, Detail: "the source could not answer", Err: &failure{err},
		Suggestion: "try again later. If the error stays, tell the operator the correlation id"}
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

// comment returns a new name for a command. The name identifies the command among all running commands.
func comment() string {
	b := make([]byte, 12)
	if _, err := rand.Read(b); err != nil {
		panic(err) // never fails
	}
	return "bailiwick " + hex.EncodeToString(b)
}

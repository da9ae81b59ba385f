package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/source"
)

// Report implements source.Reporter. It doesn't report whether the account may write, because not every server
// returns that.
func (s *Source) Report(ctx context.Context) (source.Server, error) {
	var is struct {
		Version string `bson:"version"`
		Ferret  string `bson:"ferretdbVersion"`
	}
	err := s.with(ctx, func(in *Source) error {
		return in.pool.db.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&is)
	})
	if err != nil {
		return source.Server{}, driverReason(err)
	}
	if is.Ferret != "" {
		return source.Server{Version: "FerretDB " + is.Ferret}, nil
	}
	return source.Server{Version: "MongoDB " + is.Version}, nil
}

package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
)

// commands returns the commands that a plan begins with, and what is done here after them.
func (r *reading) commands() (mongogen.Command, string, error) {
	if p := r.plan.Program; p != nil {
		if p.From < 0 {
			return mongogen.Command{}, "all of it", nil
		}
		c, err := r.writer.Program()
		rest := ""
		if left := len(p.Stages) - c.Stages; left > 0 {
			rest = fmt.Sprintf("the last %d of %d stages", left, len(p.Stages))
		}
		return c, rest, err
	}
	if r.plan.Count {
		if c, ok, err := r.writer.Count(); ok || err != nil {
			return c, "", err
		}
	}
	return r.writer.Find()
}

// Compile implements source.Compiler. A last line says what is done here.
func (s *Source) Compile(p policy.Permit) (string, error) {
	r, err := s.reading(context.Background(), p)
	if err != nil {
		return "", err
	}
	r.writer.Keys = func(*policy.Through) (bson.A, error) { return bson.A{}, nil } // it runs nothing
	c, rest, err := r.commands()
	if err != nil {
		return "", err
	}
	text := ""
	if c.Collection != "" {
		text = c.Text()
	}
	if rest != "" {
		text += "\n-- done here, over the records that this returns: " + rest
	}
	return text, nil
}

// Pool implements source.Pooled. The driver doesn't report on its connections.
func (s *Source) Pool() source.Pool { return source.Pool{} }

package mongodb

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
)

// commands returns the first command of a plan, and a description of the steps that the gateway computes afterwards.
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

// Compile implements source.Compiler. The last line describes the steps that the gateway computes.
func (s *Source) Compile(p policy.Permit) (string, error) {
	r, err := s.reading(context.Background(), p)
	if err != nil {
		return "", err
	}
	r.writer.Keys = func(*policy.Through) (bson.A, error) { return bson.A{}, nil } // Compile runs nothing
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

// Pool implements source.Pooled. The driver reports no facts about its connections.
func (s *Source) Pool() source.Pool { return source.Pool{} }

// Explain implements source.Explainer. It returns the server's plan for the first command as extended JSON, and a
// description of the steps that the gateway computes.
func (s *Source) Explain(ctx context.Context, p policy.Permit) (text string, err error) {
	err = s.with(ctx, func(in *Source) error {
		text, err = in.explain(ctx, p)
		return err
	})
	return text, err
}

// explain implements Explain with one client. It can run again with another client.
func (s *Source) explain(ctx context.Context, p policy.Permit) (string, error) {
	r, err := s.reading(ctx, p)
	if err != nil {
		return "", err
	}
	c, rest, err := r.commands()
	if err != nil {
		return "", err
	}
	text := ""
	if c.Collection != "" {
		aggregate := bson.D{{Key: "aggregate", Value: c.Collection}, {Key: "pipeline", Value: c.Pipeline}, {Key: "cursor", Value: bson.D{}}}
		plan, err := s.pool.db.RunCommand(ctx, bson.D{{Key: "explain", Value: aggregate}, {Key: "verbosity", Value: "queryPlanner"}}).Raw()
		if err != nil {
			return "", refuse(ctx, err)
		}
		if text, err = planText(plan); err != nil {
			return "", refuse(ctx, err)
		}
	}
	if rest != "" {
		text += "\ndone here, over the records that this returns: " + rest
	}
	return text, nil
}

// planText returns a plan as text, without the names of the server and its build.
func planText(plan bson.Raw) (string, error) {
	var doc bson.D
	if err := bson.Unmarshal(plan, &doc); err != nil {
		return "", err
	}
	doc = slices.DeleteFunc(doc, func(e bson.E) bool {
		return slices.Contains([]string{"serverInfo", "serverParameters", "$clusterTime", "operationTime", "command", "ok"}, e.Key)
	})
	text, err := bson.MarshalExtJSONIndent(doc, false, false, "", "  ")
	return string(text), err
}

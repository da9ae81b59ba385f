package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// trialTimeout is the maximum time to try one declared query.
const trialTimeout = 20 * time.Second

// A QueryTrial is the result of a declared query for its example.
type QueryTrial struct {
	Query   string          `json:"query"`
	Example json.RawMessage `json:"example,omitempty"` // the arguments, or nil if the query was not run
	First   json.RawMessage `json:"first,omitempty"`   // the first record, or nil
	Error   string          `json:"error,omitempty"`
}

// TryQueries runs each declared query of c with its example, under the rules of s, over the records of all tenants. Masks
// apply. A query without an example isn't run if it needs arguments, and one that needs values
// of a caller isn't run.
func (s *Survey) TryQueries(ctx context.Context, c *config.Config) ([]QueryTrial, error) {
	if len(c.Queries) == 0 {
		return nil, nil
	}
	set, err := declared.Compile(c.Queries, s.Policy, s.found, s.natives, s.Metrics)
	if err != nil { // the rules hide a field because of its values
		return nil, RuleFaults(c, err)
	}
	var out []QueryTrial
	for _, q := range set.All() {
		in, permit, err := set.Try(q)
		t := QueryTrial{Query: q.Name}
		if !in.IsNull() {
			t.Example = in.AppendJSON(nil)
			if err == nil {
				t.First, err = firstRecord(ctx, c, permit)
			}
			if err != nil {
				t.Error = problem.Of(q.Explain(err)).Detail
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// firstRecord reads the first record that permit allows, or nil.
func firstRecord(ctx context.Context, c *config.Config, permit policy.Permit) (_ json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	of, err := permit.Plan()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == of.View.Source() })
	if i < 0 {
		return nil, problem.New(problem.Internal, "the query reads no source")
	}
	opened, err := openAsOperator(ctx, c, c.Sources[i])
	if err != nil {
		return nil, err
	}
	defer CloseAfter(opened, &err)
	rows, err := opened.Read(ctx, permit)
	if err != nil {
		return nil, err
	}
	masked, err := redact.Apply(permit, plan.NewMaskKey([]byte(rand.Text())), rows)
	if err != nil {
		return nil, err
	}
	page, err := result.NewPage(masked, result.DefaultBudget)
	if err != nil || page.Count == 0 {
		return nil, err
	}
	return page.Record(0), nil
}

// An Example is an example of a class, as a call that answers it.
type Example struct {
	Class     string // as in the file
	Index     int
	Question  string
	Tool      string
	Arguments value.Value
}

// Path returns the path of the example in the configuration.
func (e Example) Path() []string {
	return []string{"classes", e.Class, "examples", fmt.Sprint(e.Index)}
}

// Examples returns the examples of all classes of c, by class.
func Examples(c *config.Config) (out []Example) {
	for _, class := range slices.Sorted(maps.Keys(c.Rules.Classes)) {
		for i, e := range c.Rules.Classes[class].Examples {
			of := Example{Class: class, Index: i, Question: e.Question}
			of.Tool, of.Arguments = tool.ExampleCall(e)
			out = append(out, of)
		}
	}
	return out
}

// An ExampleTrial is the result of an example for one principal.
type ExampleTrial struct {
	Example
	Error string // "" if the principal may make the call, and it succeeded
}

// TryExamples answers the examples of all classes that who sees, as calls of who. Nothing is stored, and no limit on the
// number of calls applies.
func TryExamples(ctx context.Context, c *config.Config, regime *policyops.Regime, who identity.Principal) (out []ExampleTrial, err error) {
	own := *c
	own.Store, own.Limits.Rate, own.Limits.Burst, own.Limits.Daily, own.Limits.TokenDaily = MemoryStore, config.Rate{}, 0, config.Daily{}, config.Daily{}
	p, err := Build(ctx, &own)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, e := range Examples(c) {
		if regime.ClassVerdict(who, e.Class).Allowed { // otherwise nobody shows the example to who
			t := ExampleTrial{Example: e}
			if _, err := p.Tools.Call(ctx, who, tool.Request{Name: e.Tool, Arguments: e.Arguments}); err != nil {
				t.Error = problem.Of(err).Detail
			}
			out = append(out, t)
		}
	}
	return out, ctx.Err()
}

// checkExamples reports examples of classes that name a tool that doesn't exist.
func checkExamples(c *config.Config) error {
	names := ToolNames(c)
	faults := &config.Error{}
	for _, e := range Examples(c) {
		if !slices.Contains(names, e.Tool) {
			message := fmt.Sprintf("there is no tool %q%s", problem.Cut(e.Tool), problem.DidYouMean(problem.Nearest(e.Tool, names, 2)))
			faults.Faults = append(faults.Faults, c.Wrong(message, append(e.Path(), "call", "tool")...))
		}
	}
	if faults.Faults == nil {
		return nil
	}
	return faults
}

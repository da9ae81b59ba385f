package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

const (
	// atOnce is the maximum number of concurrent calls of a batch.
	atOnce = 4
	// spare is the time before its deadline at which a batch stops waiting for calls. It can then still return the
	// results so far.
	spare = 3 * time.Second
)

// An outcome is the outcome of one call of a batch.
type outcome struct {
	reply *reply
	class string // as returned by Call.From
	err   error
}

// batch makes several calls and returns their answers in order. Each call works like a single call. A failed call has
// its error in place of the answer. Together the answers share the budget of one answer.
func batch(ctx context.Context, c *bailiwick.Call, in value.Value, list []value.Value) (tool.Result, error) {
	for _, m := range in.Members() {
		if m.Name != "calls" {
			return tool.Result{}, &problem.Error{Code: problem.InvalidArgument, Pointer: "/" + m.Name, Detail: m.Name + " stands beside calls, where it belongs to no call",
				Suggestion: "give it in each call that needs it"}
		}
	}
	all := each(ctx, c, list)
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	share(all, c.Budget())
	var results []value.Value
	var out tool.Result
	var said strings.Builder
	pictures := 0
	for i, one := range all {
		called := list[i]
		if one.reply != nil {
			called = one.reply.in
		}
		fmt.Fprintf(&said, "%d. %s: ", i+1, problem.Cut(cmp.Or(word(called, "operationId"), "?")))
		if one.err != nil {
			p := problem.Of(one.err)
			results = append(results, problemValue(p))
			fmt.Fprintf(&said, "%s: %s\n", p.Code, strings.Join(p.Lines(), "\n   "))
			continue
		}
		results = append(results, value.OfObject(one.reply.members()))
		said.WriteString(one.reply.text())
		links, images := one.reply.attachments()
		out.Links = append(out.Links, links...)
		for _, image := range images {
			if pictures += len(image.Bytes); pictures <= maxImage {
				out.Images = append(out.Images, image)
			}
		}
		out.Class = one.class
	}
	out.Structured = value.OfObject([]value.Member{{Name: "results", Value: value.OfArray(results)}}).AppendJSON(nil)
	out.Text = said.String()
	return out, nil
}

// each makes the calls, at most atOnce at a time, until shortly before the deadline of ctx. Calls that were not made
// by then return an error that says so.
func each(ctx context.Context, c *bailiwick.Call, list []value.Value) []outcome {
	within, cancel := context.WithCancel(ctx)
	if end, ok := ctx.Deadline(); ok && time.Until(end) > 2*spare {
		within, cancel = context.WithDeadline(ctx, end.Add(-spare))
	}
	defer cancel()
	out := make([]outcome, len(list))
	numbers, done := make(chan int), make(chan struct{}, len(list))
	var workers sync.WaitGroup
	for range min(atOnce, len(list)) {
		workers.Go(func() {
			for i := range numbers {
				if out[i].err = late(within); out[i].err == nil {
					out[i] = runOne(within, c, list[i])
				}
				done <- struct{}{}
			}
		})
	}
	reported := 0
	for i := range list {
		for sent := false; !sent; {
			select {
			case numbers <- i:
				sent = true
			case <-done:
				reported++
				c.Progress(float64(reported), float64(len(list)), "")
			case <-within.Done():
				out[i].err, sent = late(within), true
			}
		}
	}
	close(numbers)
	workers.Wait()
	return out
}

// late returns the error of a call that is not made because ctx has ended. It returns nil if ctx has not ended.
func late(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &problem.Error{Code: problem.Timeout, Detail: "the call was not made: those before it took all the time", Suggestion: "make it again, in a batch of fewer"}
}

// runOne makes one call of a batch.
func runOne(ctx context.Context, c *bailiwick.Call, args value.Value) (out outcome) {
	err := c.Alone(ctx, args, func(ctx context.Context, one *bailiwick.Call, in value.Value) (int, error) {
		if _, ok := in.Get("calls"); ok {
			return 0, &problem.Error{Code: problem.InvalidArgument, Pointer: "/calls", Detail: "a call in calls has no calls of its own", Suggestion: "put all calls into one list"}
		}
		got, err := read(ctx, one, in)
		if err != nil {
			return 0, err
		}
		got.hints = one.Notes()
		out.reply, out.class = got, one.From()
		return len(value.OfObject(got.members()).AppendJSON(nil)), nil
	})
	if out.err = err; err != nil {
		out.reply = nil
	}
	return out
}

// problemValue returns an error in the form that the transports use. It omits the correlation id, which belongs to
// the whole answer.
func problemValue(p *problem.Error) value.Value {
	doc, err := value.Read(edge.ProblemBody(p, ""), 0)
	if err != nil {
		return value.OfObject([]value.Member{text("error", "Internal error"), text("error_code", string(problem.Internal))})
	}
	return without(doc, "correlation_id")
}

// share cuts the bodies of answers so that together they fit into budget bytes. A body that is shorter than its share
// leaves room for the others. A body whose share is smaller than response.MinBudget is omitted.
func share(all []outcome, budget int) {
	sizes := make([]int, len(all))
	for i, one := range all {
		switch {
		case one.err != nil:
			budget -= len(problemValue(problem.Of(one.err)).AppendJSON(nil))
		case one.reply.got.Link != nil:
			sizes[i] = len(one.reply.file().AppendJSON(nil))
		default:
			sizes[i] = len(one.reply.got.Body.AppendJSON(nil))
		}
	}
	room := response.Share(sizes, budget)
	for i, one := range all {
		if sizes[i] <= room || one.err != nil {
			continue
		}
		got := one.reply.got
		switch {
		case got.Link != nil:
			one.reply.out = true // the resource contains its bytes
		case room < response.MinBudget:
			one.reply.out, got.Rest, got.Next = true, nil, value.Value{}
			got.Notes = []string{"the body is left out, for the other answers leave it no room: make the call alone"}
		default:
			got.Fit(room)
		}
	}
}

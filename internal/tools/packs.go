package tools

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// timeout is the timeout of a call, including its reads and the request itself.
const timeout = 60 * time.Second

// A PackTools creates the tools of packs for one gateway.
type PackTools struct {
	changes *ChangeTools
	now     func() time.Time
}

// NewPackTools returns the tools for the gateway of c. c formats proposals for agents. It may be nil if only the
// names of the tools are used.
func NewPackTools(c *ChangeTools) *PackTools { return &PackTools{c, time.Now} }

// A PackAPI configures the tools of packs for one API.
type PackAPI struct {
	Name        string // the name of the source
	Site        string // the base address of the API, for links
	Tools       []*pack.Tool
	Underscores bool // use only letters, digits and _ in tool names, such as platform_list_teams
}

// Tools returns the tools of the packs of a.
func (r *PackTools) Tools(a PackAPI) []tool.Tool {
	out := make([]tool.Tool, len(a.Tools))
	for i, t := range a.Tools {
		out[i] = r.tool(a, t)
		if r.changes != nil && t.Writes {
			r.changes.Pick(out[i].Name, picker(a.Name, t))
		}
	}
	return out
}

// picker returns a Picker for changes that t has filed. It selects the parts of the API's answer that t shows.
func picker(api string, t *pack.Tool) Picker {
	return func(p identity.Principal, s *review.Sheet) value.Value {
		if len(s.Items) != 1 {
			return s.Answer
		}
		operation := strings.TrimPrefix(s.Items[0].Class, api+".")
		if picked, err := t.WriteResult(pack.Call{Who: p, Input: s.Input, Now: s.Created}, operation, s.Answer); err == nil {
			return picked
		}
		return s.Answer
	}
}

// PackNeeds returns the scope that a tool with these annotations requires.
func PackNeeds(a pack.Annotations) identity.Scope {
	switch {
	case a.ReadOnly:
		return identity.Read
	case a.Destructive:
		return identity.Delete
	}
	return identity.Write
}

// tool returns the tool of a declaration for the API a. A call first checks the arguments against the class that
// describes them and makes the reads. Then it returns an answer. A tool that writes proposes a change instead.
func (r *PackTools) tool(a PackAPI, t *pack.Tool) tool.Tool {
	name := t.Name
	if a.Underscores {
		name = pack.UnderscoreName(name)
	}
	is := t.Annotations
	out := tool.Tool{Name: name, Title: t.Title, Description: t.Description, Input: t.Input, Output: t.Output, Scope: PackNeeds(is),
		Annotations: tool.Annotations{ReadOnly: is.ReadOnly, Destructive: is.Destructive, Idempotent: is.Idempotent, OpenWorld: is.OpenWorld},
		Category:    tool.Platform, Timeout: timeout, Offered: r.offerCheck(a.Name, t)}
	if t.Writes {
		out.Writes, out.Proposes = policy.WriteAction, true
	}
	out.Handle = func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
		var doubts []write.Doubt
		against := t.ArgumentClass(in)
		if against != nil {
			var err error
			if doubts, err = c.Fits(ctx, *against); err != nil {
				return tool.Result{}, err
			}
		}
		reads := &reader{call: c, api: a.Name}
		done, err := t.Run(ctx, pack.Call{Who: c.Who(), Input: in, Site: a.Site, Now: r.now(), Reader: reads})
		switch {
		case err != nil:
			return tool.Result{}, err
		case done.Write != nil:
			return r.propose(ctx, c, proposal{api: a.Name, tool: name, of: t, done: done, in: in, doubts: doubts, against: against})
		}
		return resultWithNotes(done.Result, reads.notes), nil
	}
	return out
}

// offerCheck returns a function that reports whether a principal sees everything in the API that t calls and
// preserves.
func (r *PackTools) offerCheck(api string, t *pack.Tool) func(identity.Principal) bool {
	return func(p identity.Principal) bool {
		all := r.changes.Gateway().APIs(p)
		i := slices.IndexFunc(all, func(reach *calls.Reach) bool { return reach.Name == api })
		if i < 0 {
			return false
		}
		// The document may have been reloaded since t was compiled.
		hidden := func(op *spec.Operation) bool {
			return !slices.ContainsFunc(all[i].View.Operations(), func(has *spec.Operation) bool {
				return has.ID == op.ID && has.Method == op.Method && has.Path == op.Path
			})
		}
		return !slices.ContainsFunc(t.Operations, hidden) && !slices.ContainsFunc(t.Sees, func(name string) bool { return !all[i].Shows(name) })
	}
}

// A reader reads an API with the rights of a call's principal.
type reader struct {
	call  *bailiwick.Call
	api   string
	notes []string // notes of the responses, for the agent
}

// Read implements pack.Reader.
func (r *reader) Read(ctx context.Context, of pack.Request) (value.Value, error) {
	got, err := r.call.CallAPI(ctx, bailiwick.APIRead{API: r.api, Operation: of.Operation, Arguments: of.Arguments, Fields: of.Fields})
	switch {
	case err != nil:
		return value.Value{}, err
	case of.Whole && got.Part:
		return value.Value{}, &problem.Error{Code: problem.BudgetExceeded, Kind: "cut_answer", Detail: "the API has more to say than can be looked at in one call, so this can't be told for sure",
			Suggestion: "look for it with a tool that lists"}
	case !of.Whole:
		r.notes = append(r.notes, got.Notes...)
	}
	return got.Body, nil
}

// resultWithNotes returns a result with notes in the form for agents.
func resultWithNotes(result value.Value, notes []string) tool.Result {
	var said strings.Builder
	said.Write(result.AppendJSON(nil))
	said.WriteByte('\n')
	if notes != nil {
		for _, note := range notes {
			said.WriteString("Note: " + note + "\n")
		}
		members := slices.Clone(result.Members())
		result = value.OfObject(append(members, value.Member{Name: "_notes", Value: value.OfStrings(notes)}))
	}
	return tool.Result{Structured: result.AppendJSON(nil), Text: said.String()}
}

// A proposal is one call of a tool that writes.
type proposal struct {
	api, tool string
	of        *pack.Tool
	done      *pack.Outcome
	in        value.Value
	doubts    []write.Doubt // doubts about the arguments that the agent may not see
	against   *write.Against
}

// propose files the write of a tool and returns the result for the agent. If the write ran at once, the result
// includes the API's response.
func (r *PackTools) propose(ctx context.Context, c *bailiwick.Call, p proposal) (tool.Result, error) {
	reason, _ := p.in.Get(pack.ReasonArgument)
	call := &write.Call{Source: p.api, Operation: p.done.Write.Operation, Request: calls.EncodeArguments(p.done.Write.Arguments)}
	sheet, err := c.Propose(ctx, write.Request{Writes: []write.Write{call}, Tool: p.tool, Origin: write.Origin{Says: p.done.Title}, Input: p.in, Reason: reason.Text(), Doubts: p.doubts, Against: p.against})
	if err != nil {
		return tool.Result{}, p.of.Place(err, p.done)
	}
	if sheet.State == change.Applied {
		// The write stays applied even if picking from the response fails.
		if picked, err := p.done.WriteResult(sheet.Answer); err == nil {
			sheet.Answer = picked
		}
	}
	return r.changes.Answer(c, sheet), nil
}

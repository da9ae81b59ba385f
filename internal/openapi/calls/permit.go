package calls

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Request is a call that a principal wants to make.
type Request struct {
	Operation string // in a form for spec.View.Operation
	Arguments validate.Arguments
	Writes    bool // the call is requested as a write. It must match the operation's class

	// Chained means that the call is one of several in a change, which are made in order. Texts in its arguments may be
	// references to the answers of the earlier calls, Earlier.
	Chained bool
	Earlier []Permit
}

// A Permit is one call that policy allows. Only a Reach makes a usable Permit. The zero Permit refuses.
type Permit struct {
	plan  *Plan
	reach *Reach
}

// A Plan is the call that a Permit allows.
type Plan struct {
	API       string
	Operation *spec.Operation
	Class     spec.Class
	Mode      write.Mode         // how it may run, by the rules of the API. Unset for spec.ClassRead
	Partial   bool               // it is a PUT that keeps fields that the body omits
	View      *spec.View         // the principal's view, to which the answer is reduced
	Arguments validate.Arguments // the given and bound arguments
	Body      value.Value        // the body sent, or Null
	// The API without the parts that are hidden from every principal. A change records this much, because reviewers may
	// see more.
	Whole   *spec.View
	Request *HTTPRequest // without credentials
	Before  *Permit      // reads the resource before the change, by the same path, or nil if the principal has no such read
	// About reads the thing on which the call acts, by a shorter path: /jobs/7 for /jobs/7/stop. It is nil if there is
	// no such read, or if Before is set.
	About *Permit
	Back  *Permit            // reads the result of a call whose answer was lost, or nil without a rule for it
	Look  Look               // the values to look for in Back's answer
	Who   identity.Principal // the principal that makes the call

	// References are the arguments that are only known after earlier calls have answered. Request then has them in
	// their written form and is not sent: Permit.WithAnswers makes the request to send.
	References []Reference

	asked validate.Arguments // the given arguments, not yet bound
}

// Plan returns the permitted call, or a PermissionDenied error for the zero Permit. The caller must not change it.
func (p Permit) Plan() (Plan, error) {
	if p.plan == nil {
		return Plan{}, problem.New(problem.PermissionDenied, "no permit")
	}
	return *p.plan, nil
}

// Permit allows or refuses a call of p within r, which must be p's own Reach. Reasons to refuse are a missing scope,
// the parameter rules, and arguments that don't fit p's view of the operation. The pointers in errors are those of the
// tools: /operationId, /path/…, /query/…, /headers/…, /cookies/…, /body/….
func (r *Reach) Permit(ctx context.Context, p identity.Principal, ask Request) (Permit, error) {
	op, err := r.View.Operation(ask.Operation)
	if err != nil {
		return Permit{}, r.absent(p, ask.Operation, err)
	}
	class := r.View.Class(op)
	if err := suits(op, class, ask.Writes); err != nil {
		return Permit{}, err
	}
	if err := r.api.rules.refusal(op); err != nil {
		return Permit{}, err
	}
	if s := scope(class); !p.Has(s) {
		return Permit{}, &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(s), Pointer: "/operationId",
			Detail: fmt.Sprintf("%s is a %s operation: it needs the scope %s", op.ID, class, s)}
	}
	args := ask.Arguments
	var later []Reference
	if ask.Chained {
		if later, err = references(args, ask.Earlier); err != nil {
			return Permit{}, err
		}
	}
	for _, l := range later {
		args.Later = append(args.Later, l.At)
		if l.text {
			args.Texts = append(args.Texts, l.At)
		}
	}
	plan, err := r.plan(ctx, p, op, args)
	if err != nil {
		return Permit{}, err
	}
	plan.References, plan.asked = later, ask.Arguments
	if slices.ContainsFunc(later, func(l Reference) bool { return strings.HasPrefix(l.At, "/path/") }) {
		return Permit{plan, r}, nil // nothing exists yet that could be read
	}
	plan.Back, plan.Look = r.back(ctx, p, op, plan.Arguments)
	if plan.Before = r.before(ctx, p, op, ask.Arguments); plan.Before == nil {
		plan.About = r.about(ctx, p, op, ask.Arguments)
	}
	return Permit{plan, r}, nil
}

// suits refuses a write requested as a read, and a read requested as a write: clients show people which of the two
// tools is called.
func suits(op *spec.Operation, class spec.Class, writes bool) error {
	switch {
	case class == spec.ClassRead && writes:
		return &problem.Error{Code: problem.InvalidArgument, Kind: "reads", Pointer: "/operationId", Detail: op.ID + " only reads", Suggestion: "call_api_read calls it at once"}
	case class != spec.ClassRead && !writes:
		return &problem.Error{Code: problem.InvalidArgument, Kind: "writes", Pointer: "/operationId",
			Detail: fmt.Sprintf("%s is a %s operation: it isn't called as a read", op.ID, class), Suggestion: "call_api_write proposes it"}
	}
	return nil
}

// plan checks and binds arguments, and builds the request.
func (r *Reach) plan(ctx context.Context, p identity.Principal, op *spec.Operation, args validate.Arguments) (*Plan, error) {
	args, media, err := accepting(op, args)
	if err != nil {
		return nil, err
	}
	if args, err = r.bind(p, op, args); err != nil {
		return nil, err
	}
	checked, err := r.checker.Check(ctx, op, args)
	if err != nil {
		return nil, err
	}
	built, err := BuildRequest(checked, RequestOptions{Lists: r.api.rules.Lists})
	if err != nil {
		return nil, err
	}
	if media != "" {
		built.Header.Set("Accept", media)
	}
	if err := r.leads(p, op, built.Path); err != nil {
		return nil, err
	}
	if err := r.api.rules.sign(op, built); err != nil {
		return nil, err
	}
	body, _ := checked.Body()
	class := r.View.Class(op)
	return &Plan{API: r.Name, Operation: op, Class: class, Mode: r.api.mode(class), Partial: r.api.partial(op), View: r.View, Whole: r.api.whole, Arguments: args, Body: body, Request: built, Who: p}, nil
}

// before returns the permit to read the resource that a call of op changes, by the GET of the same path, or nil. Some
// APIs change a resource by a POST to its path. A GET that lists is not the read for a POST, because the POST adds an
// entry to the list.
func (r *Reach) before(ctx context.Context, p identity.Principal, op *spec.Operation, args validate.Arguments) *Permit {
	if !slices.Contains([]string{"PUT", "PATCH", "DELETE", "POST"}, op.Method) || !p.Has(identity.Read) {
		return nil
	}
	for _, reads := range r.View.Operations() {
		if reads.Method != "GET" || reads.Path != op.Path || r.View.Class(reads) != spec.ClassRead {
			continue
		}
		if op.Method == "POST" && !strings.HasSuffix(strings.TrimSuffix(op.Path, "/"), "}") && r.collects(reads) {
			continue
		}
		asks := validate.Arguments{Path: args.Path, Query: argumentsFor(reads, "query", args.Query), Headers: argumentsFor(reads, "header", args.Headers), Cookies: argumentsFor(reads, "cookie", args.Cookies)}
		if plan, err := r.plan(ctx, p, reads, asks); err == nil {
			return &Permit{plan, r}
		}
	}
	return nil
}

// collects reports whether a read returns a collection according to the document. That is so if its answer is an array
// or has an array as a member. It is also so if the path of a single thing begins with its path.
func (r *Reach) collects(reads *spec.Operation) bool {
	below := strings.TrimSuffix(reads.Path, "/") + "/{"
	if slices.ContainsFunc(r.api.rules.Document.Operations, func(op *spec.Operation) bool { return strings.HasPrefix(op.Path, below) }) {
		return true
	}
	ok := reads.Success()
	if ok == nil || ok.PreferredContent() == nil {
		return false
	}
	s := r.View.Schema(ok.PreferredContent().Schema)
	if s.Items != nil || slices.Contains(s.Types, "array") {
		return true
	}
	arrays := 0
	for _, f := range r.View.Object(s).Fields {
		if in := r.View.Schema(f.Schema); in.Items != nil && slices.Contains([]string{"data", "items", "results", "result", "records", "entries", "values", "value", "rows", "list", "content", "objects"}, strings.ToLower(f.Name)) {
			arrays++
		}
	}
	return arrays > 0
}

// argumentsFor returns the given arguments for which reads has parameters, by name. A read finds a resource by the
// same query as the change.
func argumentsFor(reads *spec.Operation, in string, given value.Value) value.Value {
	var members []value.Member
	for _, m := range given.Members() {
		if reads.Parameter(in, m.Name) != nil {
			members = append(members, m)
		}
	}
	if members == nil {
		return value.Value{}
	}
	return value.OfObject(members)
}

// back returns the permit to read the result of a call of op, and the values to look for. It returns nil if neither a
// rule nor a link in the document defines the read, or if p may not make it.
func (r *Reach) back(ctx context.Context, p identity.Principal, op *spec.Operation, args validate.Arguments) (*Permit, Look) {
	at := slices.IndexFunc(r.api.rules.ReadBack, func(rule ReadBack) bool { return spec.ClassRule{Operations: rule.Operations}.Matches(op) })
	var rule ReadBack
	if at >= 0 {
		rule = r.api.rules.ReadBack[at]
	} else if linked, ok := ReadBackFromLink(r.api.rules.Document, op); ok {
		rule = linked
	} else {
		return nil, Look{}
	}
	look, ok := rule.Of(args)
	reads, err := r.View.Operation(rule.By)
	if !ok || err != nil || !p.Has(identity.Read) || r.View.Class(reads) != spec.ClassRead {
		return nil, Look{}
	}
	plan, err := r.plan(ctx, p, reads, look.Arguments)
	if err != nil {
		return nil, Look{}
	}
	return &Permit{plan, r}, look
}

// about returns the permit to read the thing on which a call of op acts, or nil. It is the GET of the longest beginning
// of op's path that ends with a parameter.
func (r *Reach) about(ctx context.Context, p identity.Principal, op *spec.Operation, args validate.Arguments) *Permit {
	if op.Method == "GET" || op.Method == "HEAD" || !p.Has(identity.Read) {
		return nil
	}
	var found *Permit
	longest := ""
	for _, reads := range r.View.Operations() {
		path := strings.TrimSuffix(reads.Path, "/")
		if reads.Method != "GET" || !strings.HasSuffix(path, "}") || len(path) <= len(longest) || !strings.HasPrefix(op.Path, path+"/") || r.View.Class(reads) != spec.ClassRead {
			continue
		}
		var given []value.Member
		for _, m := range args.Path.Members() {
			if strings.Contains(path, "{"+m.Name+"}") {
				given = append(given, m)
			}
		}
		if plan, err := r.plan(ctx, p, reads, validate.Arguments{Path: value.OfObject(given)}); err == nil {
			found, longest = &Permit{plan, r}, path
		}
	}
	return found
}

package bailiwick

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// The types of the arguments and results of Describe, DescribeClass and WouldPermit.
type (
	// A ToolUse is the use of a tool, for verdicts about it. Off means that the configuration switches the tool off.
	// tool.Set.Uses returns the uses of a set of tools.
	ToolUse = policyops.Tool
	// A Description is everything that a principal may see and do. It names the Principal, its Name, Kind, Owner,
	// Tenant, Parent and Scopes. It also has the digest of the Rules in force, and the Tools that the principal may
	// call. It lists the principal's Classes, the classes Hidden from it, its view of APIs, its declared Queries, its
	// Metrics, and its Limits.
	Description = policyops.Description
	// A ClassView is a class as a principal sees it: the Class, the Name by which the principal addresses it, and its
	// visible Fields. Hidden lists the other fields with the reasons. Layers are the conditions on every record.
	ClassView = policyops.View
	// A Verdict says whether something is Allowed. If not, Reason is what the audit records, and DeniedAt, Class and
	// Field say where it was refused. Rule and Further are the paths of the deciding rules, and Why explains them in
	// one sentence.
	Verdict = policyops.Verdict
)

// Describe returns, for operators, everything p may see and do under the rules in force: classes with fields, masks
// and layers, the given tools, scopes and limits. Filter values are shown as digests. Never show the result to
// agents.
func (g *Gateway) Describe(p identity.Principal, tools []ToolUse) (Description, error) {
	r, err := g.Regime(tools)
	if err != nil {
		return Description{}, err
	}
	d := r.Describe(p)
	o := g.options.Limits
	d.Limits = &policyops.Limits{PerMinute: float64(o.PerMinute), Burst: o.Burst, Concurrency: o.Concurrency}
	if o.Every > 0 {
		d.Limits.PerMinute = float64(time.Minute) / float64(o.Every)
	}
	return d, nil
}

// DescribeClass returns, for operators, p's view of one class, named as "source.Class" or by its bare name. If p
// doesn't see the class, the View is empty and the Verdict says why.
func (g *Gateway) DescribeClass(p identity.Principal, class string) (ClassView, Verdict, error) {
	r, err := g.Regime(nil)
	if err != nil {
		return ClassView{}, Verdict{}, err
	}
	v, verdict := r.DescribeClass(p, class)
	return v, verdict, nil
}

// WouldPermit reports to operators whether p could call one of tools on a class, and if not, why and which rule
// decides. class may be "". It does not check whether a query is valid or what it costs.
func (g *Gateway) WouldPermit(p identity.Principal, tools []ToolUse, tool, class string) (Verdict, error) {
	r, err := g.Regime(tools)
	if err != nil {
		return Verdict{}, err
	}
	return r.WouldPermit(p, tool, class), nil
}

// Views returns every view visible to p under the rules in force, ordered by source and name.
func (g *Gateway) Views(p identity.Principal) []*policy.View {
	return g.rules(context.Background(), g.force.Load().policy).Views(p)
}

// ViewsOf returns the views visible to p under the rules in force of the classes for which keep returns true, ordered by
// source and name.
func (g *Gateway) ViewsOf(p identity.Principal, keep func(*schema.Class) bool) iter.Seq[*policy.View] {
	return g.rules(context.Background(), g.force.Load().policy).ViewsOf(p, keep)
}

// errPermitted is the error of the first query of a trial, if the caller may make it.
var errPermitted = errors.New("permitted, and not run")

// Try reports whether the caller may make the first query of run. It runs no query and records nothing. It returns nil
// if the query is permitted or run makes none, and otherwise the refusal.
func (c *Call) Try(run func(*Call) error) error {
	t := &Call{gateway: c.gateway, policy: c.policy, actions: c.actions, metrics: c.metrics, who: c.who, tools: c.tools, inside: c.inside,
		trial: true, record: &audit.Record{Time: c.record.Time}}
	if err := run(t); !errors.Is(err, errPermitted) {
		return err
	}
	return nil
}

// Access returns how the database finds the first records of q, and whether the rules refuse that as a scan.
func (c *Call) Access(q query.Query) (policy.Access, error) {
	c.recordClass(q.From())
	return c.policy.Access(c.who, q)
}

// Statement returns the database statement for q, with placeholders instead of values, without running it. It fails if
// the rules refuse q. The statement contains the definitions of views. So Statement returns "" unless the caller has
// the scope explain or sees all of the source. It also returns "" if the source has no statements.
func (c *Call) Statement(q query.Query) (string, error) {
	permit, s, told, err := c.prepareQuery(q)
	if err != nil {
		return "", err
	}
	compiler, ok := s.(source.Compiler)
	if !ok {
		return "", nil
	}
	text, err := compiler.Compile(permit)
	if err != nil || !told {
		return "", err
	}
	return text, nil
}

// Explain returns the database's own query plan for q, with values of rules and its estimates. If the caller may not
// see the Statement, it returns "" without asking the database.
func (c *Call) Explain(ctx context.Context, q query.Query) (string, error) {
	permit, s, told, err := c.prepareQuery(q)
	if err != nil {
		return "", err
	}
	explainer, ok := s.(source.Explainer)
	if !ok || !told {
		return "", nil
	}
	return explainer.Explain(ctx, permit)
}

// prepareQuery permits q and finds its source, and reports whether the caller may see the command that would run.
func (c *Call) prepareQuery(q query.Query) (policy.Permit, source.Source, bool, error) {
	c.recordClass(q.From())
	q, err := c.complete(q)
	if err != nil {
		return policy.Permit{}, nil, false, err
	}
	permit, s, err := c.gateway.prepare(c.policy, c.who, q, 0)
	if err != nil {
		return permit, nil, false, err
	}
	plan, err := permit.Plan()
	if err != nil {
		return permit, nil, false, err
	}
	c.from = plan.View.Class().FullName()
	return permit, s, c.who.Has(identity.Explain) || c.policy.SeesAll(c.who, plan.View.Source()), nil
}

// Labelled selects records for Labels: the records of Class whose field Key ("" for the id) has one of Values. Class is
// as the caller addresses it, or "source.Class". Raw also includes records that the canonical filter leaves out. Labels ignores Fields.
type Labelled = result.Labels

// Labels returns the labels of records (policy.View.Label), by the text of their keys. It omits records that the caller
// doesn't see, that don't exist or that have no label. It looks up at most the first 1,000 values.
func (c *Call) Labels(ctx context.Context, of Labelled) (map[string]string, error) {
	who := c.reading()
	v, err := c.policy.View(who, of.Class, "", of.Raw)
	if err != nil {
		return nil, nil //nolint:nilerr // a class that the caller doesn't see has no labels
	}
	q := of.Query(v)
	if q == nil {
		return nil, nil
	}
	rows, err := c.gateway.rows(ctx, c.policy, who, q, 0)
	if err != nil {
		return nil, err
	}
	return result.ReadLabels(rows, q)
}

// refer sets the labels of pointers in a sheet. Without them a sheet has only ids.
//
// raw includes records that the canonical filter leaves out, which only people see here.
func (c *Call) refer(ctx context.Context, s *review.Sheet, raw bool) {
	s.Refer(func(to review.Pointer, values []value.Value) map[string]string {
		found, err := c.Labels(ctx, Labelled{Class: to.Class, Key: to.Key, Values: values, Raw: raw})
		if err != nil {
			return nil
		}
		return found
	})
}

// reading returns the caller with the scope read: a reviewer can read the reviewed records with only the scope review.
// Classes, tenants and filters still apply.
func (c *Call) reading() identity.Principal {
	who := c.who
	if who.Has(identity.Review) && !who.Has(identity.Read) {
		who.Scopes = append(slices.Clone(who.Scopes), identity.Read)
	}
	return who
}

// DescribeClass returns a class, "source.Class", to check arguments against. The result is the whole class and the caller's
// view of it. If the source implements source.Live, the description is current. A missing class is not an error: Why
// says so.
func (c *Call) DescribeClass(ctx context.Context, class string) (writes.Described, error) {
	from, name, _ := strings.Cut(class, ".")
	live, ok := c.gateway.options.Sources[from].(source.Live)
	if !ok {
		known, _, _, err := c.policy.VisibleClass(class)
		if err != nil {
			return writes.Described{Why: "it isn't there any more"}, nil
		}
		v, err := c.policy.View(c.who, class, "", true)
		if err != nil {
			v = nil // the caller has no view, for whatever reason
		}
		return writes.Described{Class: known, View: v}, nil
	}
	now, err := live.Class(ctx, name)
	switch {
	case ctx.Err() != nil:
		return writes.Described{}, ctx.Err()
	case err != nil:
		return writes.Described{Why: problem.Of(err).Detail}, nil
	}
	return writes.Described{Class: &now, View: c.policy.Fresh(c.who, &now)}, nil
}

// Fits checks the arguments of a call against the class that describes them. It returns the doubts for
// write.Request.Doubts, which the caller may not be allowed to see.
func (c *Call) Fits(ctx context.Context, a write.Against) ([]write.Doubt, error) {
	wrong, d := "", writes.Declaration{Class: a.Class, Fields: a.Fields, Record: writes.CheckedRecord(a.Record)}
	check := writes.CompileCheck(c.policy, d, a.Names, func(_ []string, format string, args ...any) { wrong = fmt.Sprintf(format, args...) })
	if wrong != "" || check == nil { // it compiled when the rules were loaded
		return []write.Doubt{{Class: a.Class, Text: "the arguments could not be checked: " + wrong}}, nil
	}
	class, err := c.DescribeClass(ctx, check.Class)
	if err != nil {
		return nil, err
	}
	return check.Arguments(class, a.Arguments, "")
}

// present returns, for review.Viewer.Now, the current records that a waiting change would update or delete, as the
// caller sees them. It returns nil if there are none. The caller could read the same records with the tools, and they
// contain no data of the change. The sheet is complete without them, so errors of the read are ignored.
func (c *Call) present(ctx context.Context, found *change.Change) []*value.Value {
	if found.State.IsFinal() || found.State == change.Applying || found.State == change.Unknown {
		return nil
	}
	ids := map[string][]string{}
	for _, e := range found.Effects {
		if e.Key != "" && (e.Op == write.OpUpdate || e.Op == write.OpDelete) {
			ids[e.Class] = append(ids[e.Class], e.Key)
		}
	}
	records := map[string]map[string]value.Value{}
	for class, list := range ids {
		read, err := c.records(ctx, found, class, list)
		if err != nil {
			continue
		}
		records[class] = read
	}
	out := make([]*value.Value, len(found.Effects))
	for i, e := range found.Effects {
		if read := records[e.Class]; read != nil && slices.Contains(ids[e.Class], e.Key) && e.Op != write.OpCreate {
			now := read[e.Key] // null if the record is gone, or the caller doesn't see it
			out[i] = &now
		}
	}
	return out
}

// records returns the records of a class with these ids, by id. They have those reviewed fields of found that the
// caller sees. Masked fields are left out, because their values can't be compared. It returns nil if the caller sees no
// such field of the class.
func (c *Call) records(ctx context.Context, found *change.Change, class string, ids []string) (map[string]value.Value, error) {
	v, err := c.policy.View(c.reading(), class, "", true)
	if err != nil || v.Key() == nil {
		return nil, err
	}
	var fields []string
	add := func(name string) {
		if v.Field(name) != nil && v.Mask(name) == nil && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	for _, e := range found.Effects {
		if e.Class != class {
			continue
		}
		for _, name := range append(slices.Clone(e.Asked), e.Version) {
			add(name)
		}
		for _, m := range e.Before.Members() {
			if e.Op == write.OpDelete {
				add(m.Name)
			}
		}
	}
	if len(fields) == 0 {
		return nil, nil
	}
	find := &query.Find{Class: class, IDs: ids, Limit: len(ids)}
	for _, name := range append(slices.Clone(fields), v.Key()...) {
		if path := (query.Path{name}); !slices.ContainsFunc(find.Keys, func(p query.Path) bool { return p[0] == name }) {
			find.Keys = append(find.Keys, path)
		}
	}
	rows, err := c.gateway.rows(ctx, c.policy, c.reading(), find, 0)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, column := range rows.Plan().Columns {
		at[column.Path[0]] = i
	}
	out := map[string]value.Value{}
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		id := make([]value.Value, len(v.Key()))
		for i, name := range v.Key() {
			id[i] = row.Values[at[name]]
		}
		members := make([]value.Member, len(fields))
		for i, name := range fields {
			members[i] = value.Member{Name: name, Value: previewValue(row.Values[at[name]], rows.Plan().Columns[at[name]])}
		}
		out[writes.KeyText(id)] = value.OfObject(members)
	}
	return out, nil
}

// previewValue returns a value of a column in the form of previews: numeric ids, which answers have as texts, are
// numbers. Numeric ids are numbers there, but texts in answers.
func previewValue(v value.Value, column policy.Column) value.Value {
	if column.ID && column.Field.Type == schema.Integer && v.Kind() == value.String {
		if n, err := value.Read([]byte(v.Text()), 0); err == nil && n.IsNumber() {
			return n
		}
	}
	return v
}

// follow reads the events of changes after Seq after, from this and other processes. If a class was created or removed,
// it describes the sources again. It returns the last Seq that it read. An error is reported once: the classes in force
// stay, and the next change of a class or Refresh tries again.
func (g *Gateway) follow(ctx context.Context, after int64) (int64, error) {
	const most = 200
	queue, outdated := g.options.Changes, false
	for more := true; more; {
		events, err := queue.Store().Events(ctx, after, most)
		if err != nil {
			return after, err
		}
		for _, e := range events {
			if e.Kind == change.EventApplied && !outdated {
				c, err := queue.Get(ctx, e.Change)
				if err != nil {
					return after, err
				}
				outdated = ofClass(c)
			}
		}
		for _, e := range events {
			after = e.Seq
		}
		more = len(events) == most
	}
	if outdated {
		return after, g.describeAgain(ctx)
	}
	return after, nil
}

// describeAgain describes the sources again after a change that created or removed a class.
func (g *Gateway) describeAgain(ctx context.Context) error {
	if _, err := g.Refresh(ctx); err != nil {
		return fmt.Errorf("a class has come or gone, and what was in force stays: %w", err)
	}
	return nil
}

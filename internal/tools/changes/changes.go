// Package changes is the tools by which agents propose writes, and follow what becomes of them.
//
// They stand beside the data tools of package tool. Each decodes its arguments into a write.Request and hands it to the
// call, which files it for people to decide about: no tool here writes, and none approves. A tool is offered only where
// gates, scopes and the rules of some class let something be proposed by it; for everybody else it isn't there.
package changes

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Options are what the tools work with. Gateway is needed.
type Options struct {
	Gateway *bailiwick.Gateway
	Actions *action.Set            // nil for none
	Link    func(id string) string // where people look at a change; nil takes its path in the console
	Now     func() time.Time       // nil takes time.Now
}

// A Toolset is the tools over one gateway. Its actions can be replaced while it serves.
type Toolset struct {
	gateway *bailiwick.Gateway
	actions atomic.Pointer[action.Set]
	link    func(string) string
	now     func() time.Time
}

// New returns the tools of o.
func New(o Options) *Toolset {
	r := &Toolset{gateway: o.Gateway, link: o.Link, now: o.Now}
	if r.link == nil {
		r.link = func(id string) string { return "/console/changes/" + id }
	}
	if r.now == nil {
		r.now = time.Now
	}
	r.SetActions(o.Actions)
	return r
}

// Gateway returns what the tools are over.
func (r *Toolset) Gateway() *bailiwick.Gateway { return r.gateway }

// SetActions puts other actions in the place of those there were. Tools of their own change with Tools.
func (r *Toolset) SetActions(s *action.Set) { r.actions.Store(cmp.Or(s, &action.Set{})) }

// Tools returns the tools, those of actions among them.
func (r *Toolset) Tools() []tool.Tool {
	tools := []tool.Tool{r.createObject(), r.updateObject(), r.deleteObject(), r.proposeChanges(), r.createClass(), r.deleteClass(), r.callMethod(),
		r.listMyChanges(), r.getChange(), r.waitForChange(), r.cancelChange()}
	for _, a := range r.actions.Load().All() {
		if a.Tool {
			tools = append(tools, r.method(a))
		}
	}
	return tools
}

// Names are those of the tools that every Toolset has.
func Names() []string {
	var names []string
	for _, t := range New(Options{}).Tools() {
		names = append(names, t.Name)
	}
	return names
}

// The times that calls may take.
const (
	proposeTimeout = 30 * time.Second
	mineTimeout    = 10 * time.Second
	waitTimeout    = 60 * time.Second
)

// proposes are the annotations of what files a change. It runs nothing itself; twice the same is one.
func proposes() tool.Annotations { return tool.Annotations{Idempotent: true} }

// mayWrite reports whether who may propose writes of op to records of v, as far as the rules tell before there is any.
func mayWrite(v *policy.View, op write.Op) bool {
	return !v.Class().View && v.Key() != nil && v.Rule().Write[op] != write.Deny
}

// offers returns whether a class of who's takes one of the writes.
func (r *Toolset) offers(ops ...write.Op) func(identity.Principal) bool {
	return func(p identity.Principal) bool {
		return slices.ContainsFunc(r.gateway.Views(p), func(v *policy.View) bool {
			return slices.ContainsFunc(ops, func(op write.Op) bool { return mayWrite(v, op) })
		})
	}
}

// usable returns the actions that who may call on a class, "source.Class", or on any for "".
func (r *Toolset) usable(p identity.Principal, class string) []*action.Action {
	var out []*action.Action
	for _, a := range r.actions.Load().All() {
		if (class == "" || a.Class.FullName() == class) && r.may(p, a) {
			out = append(out, a)
		}
	}
	return out
}

// may reports whether who may call a: by the gates, its scope, who's list of actions and who's views.
func (r *Toolset) may(p identity.Principal, a *action.Action) bool {
	ask := bailiwick.CallSpec{Tool: methodTool, Needs: a.Scope, Writes: policy.WriteAction, Proposes: true, Uses: []string{}}
	if !p.Actions.Allows(a.Called()...) || a.Review == write.Deny || r.gateway.May(p, ask) != nil {
		return false
	}
	return slices.ContainsFunc(r.gateway.Views(p), func(v *policy.View) bool {
		if v.Class().FullName() != a.Class.FullName() {
			return false
		}
		return v.Rule().Write[a.Op()] != write.Deny
	})
}

// anything reports whether who may propose anything: only then there are changes of who's to look at.
func (r *Toolset) anything(p identity.Principal) bool {
	for _, t := range []tool.Tool{r.createObject(), r.updateObject(), r.deleteObject(), r.createClass(), r.callMethod()} {
		if r.gateway.May(p, t.Ask()) == nil && t.Offered(p) {
			return true
		}
	}
	return slices.ContainsFunc(r.actions.Load().All(), func(a *action.Action) bool { return a.Tool && p.Tools.Allows(a.Name) && r.may(p, a) }) || r.calls(p)
}

// calls reports whether who may propose a call of some API.
func (r *Toolset) calls(p identity.Principal) bool {
	ask := bailiwick.CallSpec{Tool: "call_api_write", Needs: identity.Write, Writes: policy.WriteAction, Proposes: true}
	return r.gateway.May(p, ask) == nil && slices.ContainsFunc(r.gateway.APIs(p), func(reach *calls.Reach) bool { return reach.Writes })
}

// Writable reports whether who may set a field of v by proposing it as it is: what get_schema tells.
func (r *Toolset) Writable(p identity.Principal, v *policy.View, f *schema.Field) bool {
	ask := bailiwick.CallSpec{Tool: "update_object", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true}
	switch permitted := v.Rule().Permitted; {
	case f.Generated, f.Type == schema.Opaque, v.Mask(f.Name) != nil, permitted != nil && !slices.Contains(permitted, f.Name):
		return false
	case slices.Contains(v.Key(), f.Name):
		return mayWrite(v, write.OpCreate) && r.gateway.May(p, ask) == nil
	}
	return (mayWrite(v, write.OpCreate) || mayWrite(v, write.OpUpdate)) && r.gateway.May(p, ask) == nil
}

// Actions are those that who may call on v, as get_schema tells of them; nil for none.
func (r *Toolset) Actions(p identity.Principal, v *policy.View) []value.Value {
	var out []value.Value
	for _, a := range r.usable(p, v.Class().FullName()) {
		in, err := value.Read(a.Schema(), 0)
		if err != nil {
			continue // it was read when it was compiled
		}
		var checked value.Value
		if check := a.Checked(); check != nil {
			described := r.view(p, check.Class)
			checked, in = check.Hint(described), check.Narrowed(described, in)
		}
		members := []value.Member{text("name", a.Name)}
		if a.Description != "" {
			members = append(members, text("description", a.Description))
		}
		members = append(members, text("permission", string(a.Scope)), member("needs_object_id", value.OfBool(a.WantsRecord())),
			member("supports_dry_run", value.OfBool(a.Tries())))
		if own := a.Tool && p.Tools.Allows(a.Name); own && checked.IsNull() {
			members = append(members, text("tool", a.Name)) // tools/list has its arguments
		} else {
			members = append(members, member("arguments", in))
		}
		if !checked.IsNull() {
			members = append(members, member("check_against", checked))
		}
		out = append(out, value.OfObject(members))
	}
	return out
}

// view returns who's view of a class, "source.Class"; nil where who sees none.
func (r *Toolset) view(p identity.Principal, class string) *policy.View {
	views := r.gateway.Views(p)
	if i := slices.IndexFunc(views, func(v *policy.View) bool { return v.Class().FullName() == class }); i >= 0 {
		return views[i]
	}
	return nil
}

func member(name string, v value.Value) value.Member { return value.Member{Name: name, Value: v} }

func text(name, s string) value.Member { return member(name, value.OfString(s)) }

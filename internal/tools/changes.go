package tools

import (
	"slices"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// ChangeOptions configures the tools. Gateway is required.
type ChangeOptions struct {
	Gateway *bailiwick.Gateway
	Link    func(id string) string // returns the address of a change for people. Nil means its path in the console
}

// A ChangeTools creates the tools for changes of one gateway.
type ChangeTools struct {
	gateway *bailiwick.Gateway
	pickers sync.Map // a Picker for each tool name
	link    func(string) string
}

// NewChangeTools returns the tools with options o.
func NewChangeTools(o ChangeOptions) *ChangeTools {
	r := &ChangeTools{gateway: o.Gateway, link: o.Link}
	if r.link == nil {
		r.link = func(id string) string { return "/console/changes/" + id }
	}
	return r
}

// Gateway returns the gateway of the tools.
func (r *ChangeTools) Gateway() *bailiwick.Gateway { return r.gateway }

// A Picker selects the part of an API's answer that a tool shows for its change. It returns the whole Answer of the
// sheet if it can't select a part.
type Picker func(p identity.Principal, s *review.Sheet) value.Value

// Pick registers pick for changes that the named tool filed.
func (r *ChangeTools) Pick(tool string, pick Picker) { r.pickers.Store(tool, pick) }

// Tools returns the tools, including those of the gateway's actions.
func (r *ChangeTools) Tools() []tool.Tool { return r.ToolsOf(r.gateway.AllActions()) }

// ToolsOf is like Tools for actions that are not in force yet.
func (r *ChangeTools) ToolsOf(actions []*action.Action) []tool.Tool {
	tools := r.commonTools()
	for _, a := range actions {
		if a.Tool {
			tools = append(tools, r.method(a))
		}
	}
	return tools
}

// CommonChangeTools returns the tools that exist for every gateway. It is for callers that need only their names and
// properties.
func CommonChangeTools() []tool.Tool { return NewChangeTools(ChangeOptions{}).commonTools() }

func (r *ChangeTools) commonTools() []tool.Tool {
	return []tool.Tool{r.createObject(), r.updateObject(), r.deleteObject(), r.proposeChanges(), r.createClass(), r.deleteClass(), r.callMethod(),
		r.listMyChanges(), r.getChange(), r.waitForChange(), r.replyToChange(), r.cancelChange()}
}

// Timeouts of calls.
const (
	proposeTimeout = 30 * time.Second
	mineTimeout    = 10 * time.Second
	waitTimeout    = 60 * time.Second
)

// proposes returns the annotations of a tool that files a change. Such a tool is idempotent, because repeating a
// proposal returns the same change.
func proposes() tool.Annotations { return tool.Annotations{Idempotent: true} }

// mayWrite reports whether op may be proposed for records of v. It checks only rules that don't depend on a record.
func mayWrite(v *policy.View, op write.Op) bool {
	return !v.Class().View && v.Key() != nil && v.Rule().Write[op] != write.Deny
}

// offers returns a function that reports whether a principal sees a class that allows one of the writes.
func (r *ChangeTools) offers(ops ...write.Op) func(identity.Principal) bool {
	return func(p identity.Principal) bool {
		for v := range r.gateway.ViewsOf(p, func(c *schema.Class) bool { return !c.View && len(c.Key) > 0 }) {
			if slices.ContainsFunc(ops, func(op write.Op) bool { return mayWrite(v, op) }) {
				return true
			}
		}
		return false
	}
}

// anything reports whether p may propose any change. Only such a principal can have own changes.
func (r *ChangeTools) anything(p identity.Principal) bool {
	for _, t := range []tool.Tool{r.createObject(), r.updateObject(), r.deleteObject(), r.createClass(), r.callMethod()} {
		if r.gateway.May(p, t.Ask()) == nil && t.Offered(p) {
			return true
		}
	}
	return slices.ContainsFunc(r.gateway.Actions(p, ""), func(a *action.Action) bool { return a.Tool && p.Tools.Allows(a.Name) }) || r.calls(p)
}

// calls reports whether p may propose an API call.
func (r *ChangeTools) calls(p identity.Principal) bool {
	ask := bailiwick.CallSpec{Tool: "call_api_write", Needs: identity.Write, Writes: policy.WriteAction, Proposes: true}
	return r.gateway.May(p, ask) == nil && slices.ContainsFunc(r.gateway.APIs(p), func(reach *calls.Reach) bool { return reach.Writes })
}

// Writable reports whether p may propose a new value for a field of v. It implements tool.Writing.
func (r *ChangeTools) Writable(p identity.Principal, v *policy.View, f *schema.Field) bool {
	ask := bailiwick.CallSpec{Tool: "update_object", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true}
	switch permitted := v.Rule().Permitted; {
	case f.Generated, f.Type == schema.Opaque && f.Form == "", !v.MaskLetsSet(f.Name, true), permitted != nil && !slices.Contains(permitted, f.Name):
		return false
	case slices.Contains(v.Key(), f.Name), !v.MaskLetsSet(f.Name, false):
		return mayWrite(v, write.OpCreate) && r.gateway.May(p, ask) == nil
	}
	return (mayWrite(v, write.OpCreate) || mayWrite(v, write.OpUpdate)) && r.gateway.May(p, ask) == nil
}

// Actions returns the actions that p may call on v, as get_schema shows them, or nil. It implements tool.Writing.
func (r *ChangeTools) Actions(p identity.Principal, v *policy.View) []value.Value {
	var out []value.Value
	for _, a := range r.gateway.Actions(p, v.Class().FullName()) {
		in, err := value.Read(a.Schema(), 0)
		if err != nil {
			continue // unreachable, because compiling the action has parsed the schema
		}
		var checked value.Value
		if check := a.ArgumentCheck(); check != nil {
			described := r.view(p, check.Class)
			checked, in = check.Hint(described), check.CompleteSchema(described, in)
		}
		members := []value.Member{changeText("name", a.Name)}
		if a.Description != "" {
			members = append(members, changeText("description", a.Description))
		}
		members = append(members, changeText("permission", string(a.Scope)), member("needs_object_id", value.OfBool(a.WantsRecord())),
			member("supports_dry_run", value.OfBool(a.Tries())))
		if own := a.Tool && p.Tools.Allows(a.Name); own && checked.IsNull() {
			members = append(members, changeText("tool", a.Name)) // tools/list shows its arguments
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

// view returns p's view of a class ("source.Class"), or nil.
func (r *ChangeTools) view(p identity.Principal, class string) *policy.View {
	for v := range r.gateway.ViewsOf(p, func(c *schema.Class) bool { return c.FullName() == class }) {
		return v
	}
	return nil
}

func member(name string, v value.Value) value.Member { return value.Member{Name: name, Value: v} }

func changeText(name, s string) value.Member { return member(name, value.OfString(s)) }

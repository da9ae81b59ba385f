package policy

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Gate is an operator's switch over one kind of write.
type Gate string

// The gates, from the most to the least restrictive.
const (
	Off    Gate = "off"    // no writes
	Review Gate = "review" // a human approves each write first
	On     Gate = "on"     // any principal with the scope may write
)

// AllGates returns the gates, from the most to the least restrictive.
func AllGates() []Gate { return []Gate{Off, Review, On} }

// Less returns the more restrictive of two gates.
func (g Gate) Less(other Gate) Gate {
	if g == Off || other == Off {
		return Off
	}
	if g == Review || other == Review {
		return Review
	}
	return On
}

// A Write is a kind of write that gates distinguish. "" means no write.
type Write string

// The kinds of write.
const (
	WriteAction Write = "action" // operations the application defines: actions, APIs, custom tools
	WriteRaw    Write = "raw"    // records of a class, directly: create_object, update_object, delete_object
	WriteSchema Write = "schema" // the classes and fields themselves
)

// Gates are the operator's switches over writes. "" selects the default.
type Gates struct {
	Writes       Gate // all writes. Default review
	RawWrites    Gate // raw writes, in addition to Writes. Default off
	SchemaWrites Gate // schema writes, in addition to Writes. Default off
}

// WithDefaults returns g with the defaults filled in.
func (g Gates) WithDefaults() Gates {
	fill := func(gate *Gate, by Gate) {
		if *gate == "" {
			*gate = by
		}
	}
	fill(&g.Writes, Review)
	fill(&g.RawWrites, Off)
	fill(&g.SchemaWrites, Off)
	return g
}

// Check returns an error for the first value that is not a valid gate.
func (g Gates) Check() error {
	for _, s := range g.switches(WriteRaw, WriteSchema) {
		if s.gate != Off && s.gate != Review && s.gate != On {
			return fmt.Errorf("%s: must be off, review or on, not %q", s.key, problem.Cut(string(s.gate)))
		}
	}
	return nil
}

// A gateSwitch is one gate with its configuration key.
type gateSwitch struct {
	key  string
	gate Gate
}

// describeWrites describes, for messages, the writes that a switch controls.
func describeWrites(key string) string {
	switch key {
	case "gates.raw_writes":
		return "direct writes of records (create, update, delete)"
	case "gates.schema_writes":
		return "changes of classes and fields"
	}
	return "writes"
}

// switches returns the switches that control writes of the given kinds, the most general first.
func (g Gates) switches(kinds ...Write) []gateSwitch {
	g = g.WithDefaults()
	out := []gateSwitch{{"gates.writes", g.Writes}}
	for _, kind := range kinds {
		switch kind {
		case WriteRaw:
			out = append(out, gateSwitch{"gates.raw_writes", g.RawWrites})
		case WriteSchema:
			out = append(out, gateSwitch{"gates.schema_writes", g.SchemaWrites})
		}
	}
	return out
}

// Of returns the gate in force for a kind of write, and the configuration key of the deciding switch, such as
// "gates.writes". An unknown kind is Off, with no key. The empty kind is On.
func (g Gates) Of(kind Write) (Gate, string) {
	switch kind {
	case "":
		return On, ""
	case WriteAction, WriteRaw, WriteSchema:
	default:
		return Off, ""
	}
	switches := g.switches(kind)
	least := switches[0]
	for _, s := range switches[1:] {
		if least.gate.Less(s.gate) != least.gate {
			least = s
		}
	}
	return least.gate, least.key
}

// RefusingKeys returns the keys of the switches that refuse u, the deciding one first. It returns nil if none refuses u, or
// if the kind of u's writes is unknown.
func (g Gates) RefusingKeys(u Use) (keys []string) {
	_, deciding := g.Of(u.Kind())
	for _, s := range g.switches(u.Kind()) {
		switch {
		case deciding == "" || s.gate == On || s.gate == Review && u.Proposes:
		case s.key == deciding:
			keys = append([]string{s.key}, keys...)
		default:
			keys = append(keys, s.key)
		}
	}
	return keys
}

// Passes returns nil if the gates allow u. Otherwise it returns a PermissionDenied error. Its text is for agents, who can't
// change a switch: it says what is off, and what to do instead. RefusingKeys returns the switches, for operators.
func (g Gates) Passes(u Use) error {
	gate, key := g.Of(u.Kind())
	refused := &problem.Error{Code: problem.PermissionDenied, Kind: "gate", Detail: u.Tool + " makes writes of no known kind"}
	switch {
	case gate == On, gate == Review && u.Proposes:
		return nil
	case gate == Review:
		refused.Detail = fmt.Sprintf("%s need the approval of a person here, and %s can't wait for it", describeWrites(key), u.Tool)
		refused.Suggestion = "propose the change with another tool, or tell the person you work for what to change"
	case key != "":
		refused.Detail = fmt.Sprintf("%s are switched off for all agents here", describeWrites(key))
		refused.Suggestion = "only read, and tell the person you work for what to change. Only an operator of the gateway can switch them on"
		if key == "gates.raw_writes" && g.WithDefaults().Writes != Off {
			refused.Suggestion = "use an action of the class if get_schema shows one. Otherwise tell the person you work for what to change"
		}
	}
	return refused
}

// A Use describes the use of a tool, for gates, scopes and tool lists.
type Use struct {
	Tool   string
	Needs  identity.Scope
	Writes Write // the kind of write that it makes directly. "" selects WriteAction or WriteSchema if Needs is more than reading

	Proposes bool // its writes wait for review

	// Through lists the tool names to look up in the principal's tool list, if Tool is not itself a tool but gives
	// access to several. Nil means Tool.
	Through []string
}

// Kind returns the kind of write that u makes.
func (u Use) Kind() Write {
	if u.Writes == "" {
		switch u.Needs {
		case identity.Write, identity.Delete:
			return WriteAction
		case identity.Schema:
			return WriteSchema
		}
	}
	return u.Writes
}

// ParseGate parses a gate: "off", "review" or "on".
func ParseGate(s string) (Gate, error) {
	for _, g := range AllGates() {
		if s == string(g) {
			return g, nil
		}
	}
	return "", fmt.Errorf("must be off, review or on, not %q", problem.Cut(s))
}

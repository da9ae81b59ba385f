package policy

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Gate is an operator's switch over one kind of write.
type Gate string

// The gates, from the least to the most.
const (
	Off    Gate = "off"    // nobody writes so
	Review Gate = "review" // what is written is approved by a human before
	On     Gate = "on"     // whoever has the scope writes
)

// AllGates are the gates, from the least to the most.
func AllGates() []Gate { return []Gate{Off, Review, On} }

// Less returns the lesser of two gates.
func (g Gate) Less(other Gate) Gate {
	if g == Off || other == Off {
		return Off
	}
	if g == Review || other == Review {
		return Review
	}
	return On
}

// A Write is a kind of write, as gates tell them apart. "" is none.
type Write string

// The kinds of write.
const (
	WriteAction Write = "action" // what the application defines: actions, APIs, tools of its own
	WriteRaw    Write = "raw"    // records of a class as they are: create_object, update_object, delete_object
	WriteSchema Write = "schema" // what classes and fields there are
)

// Gates are the operator's switches (design 02). "" takes the default.
type Gates struct {
	Writes       Gate // of every write; default review
	RawWrites    Gate // of raw writes, besides Writes; default off
	SchemaWrites Gate // of the schema, besides Writes; default off
}

// Filled returns g with the defaults put in.
func (g Gates) Filled() Gates {
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

// check reports what is no gate.
func (g Gates) check() error {
	for _, s := range g.switches(WriteRaw, WriteSchema) {
		if s.gate != Off && s.gate != Review && s.gate != On {
			return fmt.Errorf("%s: must be off, review or on, not %q", s.key, problem.Cut(string(s.gate)))
		}
	}
	return nil
}

// A gateSwitch is one of the gates with its key in the configuration.
type gateSwitch struct {
	key  string
	gate Gate
}

// written says what a switch lets through.
func written(key string) string {
	switch key {
	case "gates.raw_writes":
		return "raw writes"
	case "gates.schema_writes":
		return "writes to the schema"
	}
	return "writes"
}

// switches returns what stands before writes of the given kinds, the most general first.
func (g Gates) switches(kinds ...Write) []gateSwitch {
	g = g.Filled()
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

// Gate returns what is in force for a kind of write, and the key of the switch that decides: "gates.writes". It is Off,
// by no switch, for a kind that isn't one, and On for none at all.
func (p *Policy) Gate(kind Write) (Gate, string) {
	switch kind {
	case "":
		return On, ""
	case WriteAction, WriteRaw, WriteSchema:
	default:
		return Off, ""
	}
	switches := p.rules.Gates.switches(kind)
	least := switches[0]
	for _, s := range switches[1:] {
		if least.gate.Less(s.gate) != least.gate {
			least = s
		}
	}
	return least.gate, least.key
}

// passes reports, by nil, whether the gates let a use through that writes at once, and names the switch that doesn't.
func (p *Policy) passes(u Use) error {
	gate, key := p.Gate(u.Kind())
	refused := &problem.Error{Code: problem.PermissionDenied, Kind: "gate", Detail: u.Tool + " makes writes of no known kind"}
	switch {
	case gate == On, gate == Review && u.Proposes:
		return nil
	case gate == Review:
		refused.Detail = fmt.Sprintf("%s need a review (%s: review), which %s doesn't offer", written(key), key, u.Tool)
	case key != "":
		refused.Detail = fmt.Sprintf("%s are switched off (%s)", written(key), key)
	}
	// What stands in the way besides has to change as well.
	for _, s := range p.rules.Gates.switches(u.Kind()) {
		if s.key != key && s.gate != On && !(s.gate == Review && u.Proposes) {
			refused.Detail += fmt.Sprintf("; %s (%s) has to change too", s.key, s.gate)
		}
	}
	return refused
}

// A Use is the use of a tool, as gates, scopes and lists see it.
type Use struct {
	Tool   string
	Needs  identity.Scope
	Writes Write // what kind of write it makes at once; "" takes WriteAction where Needs is more than reading

	Proposes bool // what it writes waits for people

	// Through are the tools that stand in the asker's list for it, where Tool is the name of no tool but of what leads
	// to some. Nil takes Tool.
	Through []string
}

// Kind returns what kind of write u makes.
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

// May reports, by nil, whether who may make a use: by the gates, the scopes and the asker's list of tools. A tool that
// the list leaves out is refused before all else, in the bytes of one that doesn't exist: whether it is there, and what
// it writes, is not told. Of what leads to tools the scope comes first, so that who has none learns nothing of which
// names exist.
func (p *Policy) May(principal identity.Principal, u Use) error {
	if u.Through == nil && !principal.Tools.Allows(u.Tool) {
		return Unknown("tool_filtered")
	}
	if err := p.passes(u); err != nil {
		return err
	}
	if !principal.Has(u.Needs) {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(u.Needs),
			Detail: fmt.Sprintf("%s needs the scope %s", u.Tool, u.Needs)}
	}
	for _, name := range u.Through {
		if !principal.Tools.Allows(name) {
			return Unknown("tool_filtered")
		}
	}
	return nil
}

// ParseGate reads a gate.
func ParseGate(s string) (Gate, error) {
	for _, g := range AllGates() {
		if s == string(g) {
			return g, nil
		}
	}
	return "", fmt.Errorf("must be off, review or on, not %q", problem.Cut(s))
}

// Unknown is the refusal of a tool that doesn't exist for the asker; kind is the true reason.
func Unknown(kind string) error {
	return &problem.Error{Code: problem.UnknownTool, Kind: kind, Detail: "unknown tool"}
}

package action

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// MethodTool is the tool that calls any action by name. Other tools of actions have the name of their action.
const MethodTool = "call_method"

// An Invocation is a call of an action through a tool.
type Invocation struct {
	Tool   string
	Input  value.Value // the arguments of the tool
	Args   value.Value // the arguments of the action
	Record string      // the id given by the caller, or ""
	At     string      // the JSON pointer of Args in Input
	Dry    bool        // a dry run: nothing is proposed
	Now    time.Time   // the time for expressions. Zero means the current time
}

// OfMethod converts the arguments of MethodTool to an invocation of an action.
func OfMethod(in value.Value) (Invocation, error) {
	const at = "/arguments"
	args, _ := in.Get("arguments")
	out := Invocation{Tool: MethodTool, Input: in, Record: text(in, RecordArgument), At: at}
	var members []value.Member
	for _, m := range args.Members() {
		switch {
		case m.Name != DryRunArgument:
			members = append(members, m)
		case m.Value.Kind() != value.Bool:
			return Invocation{}, &problem.Error{Code: problem.InvalidArgument, Pointer: at + "/" + m.Name, Detail: "dry_run is true or false"}
		default:
			out.Dry = m.Value.Bool()
		}
	}
	out.Args = value.OfObject(members)
	return out, nil
}

// OfTool converts the arguments of the action's own tool to an invocation of a.
func (a *Action) OfTool(in value.Value) Invocation {
	var members []value.Member
	for _, m := range in.Members() {
		if slices.Contains(a.Arguments(), m.Name) {
			members = append(members, m)
		}
	}
	dry, _ := in.Get(DryRunArgument)
	return Invocation{Tool: a.Name, Input: in, Args: value.OfObject(members), Record: text(in, RecordArgument), Dry: dry.Bool()}
}

// text returns a text argument, or "" if it isn't given.
func text(in value.Value, name string) string {
	v, _ := in.Get(name)
	return v.Text()
}

package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

type addIn struct {
	A    int64       `json:"a" jsonschema:"the first number"`
	More []int64     `json:"more,omitempty"`
	Any  value.Value `json:"any,omitzero"`
}

type addOut struct {
	Sum int64       `json:"sum"`
	Any value.Value `json:"any"`
}

type spoken struct {
	Words string `json:"words"`
}

func (s spoken) String() string { return "said: " + s.Words }

// TestTyped calls tools declared by Go structs.
func TestTyped(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	reads := tool.Annotations{ReadOnly: true}
	set, err := tool.NewSet(g,
		tool.Typed(tool.Tool{Name: "add", Description: "Adds.", Category: tool.Custom, Annotations: reads},
			func(_ context.Context, _ *bailiwick.Call, in addIn) (addOut, error) {
				sum := in.A
				for _, n := range in.More {
					sum += n
				}
				return addOut{sum, in.Any}, nil
			}),
		tool.Typed(tool.Tool{Name: "say", Description: "Says.", Category: tool.Custom, Annotations: reads,
			Input: []byte(`{"type":"object","additionalProperties":false,"properties":{"words":{"type":"string","maxLength":5}}}`)},
			func(_ context.Context, _ *bailiwick.Call, in spoken) (spoken, error) { return in, nil }))
	if err != nil {
		t.Fatal(err)
	}
	const input = `{"type":"object","properties":{"a":{"type":"integer","description":"the first number"},"more":{"type":"array","items":{"type":"integer"}},"any":{"description":"any JSON value"}},"required":["a"],"additionalProperties":false}`
	if got := string(set.Tool("add").Input); got != input {
		t.Errorf("the input schema is\n%s, want\n%s", got, input)
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"add", `{"a":9007199254740993}`, `{"sum":9007199254740993,"any":null}`},
		{"add", `{"a":1,"more":[2,3],"any":{"x":[12345678901234567890.5]}}`, `{"sum":6,"any":{"x":[12345678901234567890.5]}}`},
		{"add", `{}`, "invalid_argument: the argument \"a\" is missing"},
		{"add", `{"a":1.5}`, "invalid_argument: a must be a whole number, not 1.5"},
		{"add", `{"a":1,"mroe":[]}`, `invalid_argument: unknown argument "mroe". Did you mean more?`},
		{"add", `{"a":99999999999999999999}`, "invalid_argument: the arguments don't fit the tool add. tools/list has its input schema"},
		{"say", `{"words":"aha"}`, "said: aha"},
		{"say", `{"words":"too long"}`, "invalid_argument: words"},
	} {
		args, err := value.Read([]byte(tt.args), 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Call(t.Context(), agent(), tool.Request{Name: tt.tool, Arguments: args})
		got := res.Text
		if err != nil {
			got = string(problem.CodeOf(err)) + ": " + problem.Of(err).Detail
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %s: %s, want %s", tt.tool, tt.args, got, tt.want)
		}
	}
}

// TestTypedRefuses checks that types without a schema are reported when the tool is added to a set.
func TestTypedRefuses(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	type circle struct {
		Next *circle `json:"next"`
	}
	reads := tool.Tool{Name: "x", Description: "Reads.", Category: tool.Custom, Annotations: tool.Annotations{ReadOnly: true}}
	for want, made := range map[string]tool.Tool{
		"is not a struct":    tool.Typed(reads, func(context.Context, *bailiwick.Call, int) (spoken, error) { return spoken{}, nil }),
		"the schema of tool": tool.Typed(reads, func(context.Context, *bailiwick.Call, circle) (spoken, error) { return spoken{}, nil }),
		"func()": tool.Typed(reads, func(context.Context, *bailiwick.Call, spoken) (struct{ F func() }, error) {
			return struct{ F func() }{}, nil
		}),
		"it has no handler": tool.Typed[spoken, spoken](reads, nil),
	} {
		if _, err := tool.NewSet(g, made); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

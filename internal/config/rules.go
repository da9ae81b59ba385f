package config

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/write"
)

// An expressionShape returns the shape of a CEL expression over the principal with a result of kind y.
type expressionShape func(into *string, y expression.Yield) yamlconf.Shape

const apiPatterns = "operations, by id or by method and path (POST /teams/*)"

// apiRules returns the shape of the rules of one API, the section apis.NAME.
func apiRules(rules *calls.Rules, cel expressionShape) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "description", Doc: "For agents: what the API is for", Shape: yamlconf.Words(&rules.Description)},
		{Name: "access", Doc: "What operations can do. The first rule that matches one counts. Otherwise its method decides: GET and HEAD read, DELETE destroys, others write", Shape: accessRules(&rules.Access.Rules)},
		{Name: "rpc_names", Doc: "true: the names of POST operations say what they do: Get, List, Search and BatchGet read, Delete destroys", Shape: yamlconf.Flag(&rules.Access.RPCNames)},
		{Name: "shown", Doc: "The operations that can be seen. Without it all but excluded ones", Shape: yamlconf.List(&rules.Shown, apiPatterns, nil)},
		{Name: "hidden", Doc: "What is out of sight, as if it were not there", Shape: hiddenAPIShape(&rules.Hidden, cel)},
		{Name: "parameters", Doc: "What parameters must be. One that is not given is set", Shape: parameters(&rules.Parameters, cel)},
		{Name: "write", Doc: "How what isn't read may run: review (the default), allow or deny, or one of them each for write and destructive. Gates come first", Shape: apiModes(&rules.Write)},
		{Name: "open_bodies", Doc: "true: bodies may have fields that the document doesn't name", Shape: yamlconf.Flag(&rules.OpenBodies)},
		{Name: "open_formats", Doc: "true: texts and numbers may be of other formats than the document says (date-time, uuid, int32). Without it what can't be of that format is refused", Shape: yamlconf.Flag(&rules.OpenFormats)},
		{Name: "open_parameters", Doc: "Query parameters that the document doesn't declare, and that agents may give all the same", Shape: openParametersShape(&rules.OpenParameters)},
		{Name: "partial", Doc: "PUTs that leave what they are not given as it is, as a PATCH does: reviewers see what changes, and nothing as gone that stays. Those of packs come after", Shape: yamlconf.List(&rules.Partial, "PUT "+apiPatterns, nil)},
		{Name: "lists", Doc: "How lists in objects of queries and forms are written: brackets (a[]=1, the default), indices (a[0]=1), repeat (a=1&a=2) or comma (a=1,2). Lists of objects have indices",
			Shape: yamlconf.Choose([]string{"brackets", "indices", "repeat", "comma"}, func(s string) {
				if rules.Lists = calls.ListStyle(s); s == "brackets" {
					rules.Lists = calls.Brackets
				}
			})},
		{Name: "read_back", Doc: "How to find out whether a call that makes something was carried out when no answer came. Those of packs come after", Shape: pack.ReadReadBack(&rules.ReadBack)},
		{Name: "synonyms", Doc: "By word: others that mean the same here, for search", Shape: synonyms(&rules.Synonyms)},
	}, nil)
}

// accessRules returns the shape of the rules that classify operations, in the order in which they are tried. A
// forbidden operation has a reason and an alternative for agents.
func accessRules(into *[]spec.ClassRule) yamlconf.Shape {
	return yamlconf.Items("rules", func(int) (yamlconf.Shape, func()) {
		var rule spec.ClassRule
		return yamlconf.Object([]yamlconf.Key{
			{Name: "operations", Doc: "Operation ids, or methods and paths (POST /teams/*). * stands for any text", Shape: yamlconf.List(&rule.Operations, apiPatterns, nil)},
			{Name: "tags", Doc: "Operations that have one of these tags. With operations both must match", Shape: yamlconf.List(&rule.Tags, "tags", nil)},
			{Name: "class", Doc: "read, write, destructive, excluded (absent) or forbidden (not listed, and the answer to a call says where a person does it)", Must: true,
				Shape: yamlconf.Choose([]string{"read", "write", "destructive", "excluded", "forbidden"}, func(s string) { rule.Class, _ = spec.ParseClass(s) })},
			{Name: "reason", Doc: "Of class: forbidden: why, for agents", Shape: yamlconf.Words(&rule.Reason)},
			{Name: "instead", Doc: "Of class: forbidden: where a person does it, for agents", Shape: yamlconf.Words(&rule.Instead)},
		}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			forbidden := rule.Class == spec.ClassForbidden
			for _, key := range []string{"reason", "instead"} {
				switch given := r.HasAt(at + "/" + key); {
				case forbidden && !given:
					r.Wrong(n.Start(), at, "needs the key %s: agents read it", key)
				case !forbidden && given && r.HasAt(at+"/class"):
					r.WrongAt(at+"/"+key, "goes with class: forbidden. Take it out")
				}
			}
		}), func() { *into = append(*into, rule) }
	})
}

// hiddenAPIShape returns the shape of the rules that hide parts of an API, appended to into.
func hiddenAPIShape(into *[]calls.Hidden, cel expressionShape) yamlconf.Shape {
	return yamlconf.Items("what is hidden", func(int) (yamlconf.Shape, func()) {
		var h calls.Hidden
		return yamlconf.Object([]yamlconf.Key{
			{Name: "operations", Doc: "Operation ids, or methods and paths. * stands for any text", Shape: yamlconf.List(&h.Operations, apiPatterns, nil)},
			{Name: "tags", Doc: "Operations that have one of these tags. With operations both must match", Shape: yamlconf.List(&h.Tags, "tags", nil)},
			{Name: "schemas", Doc: "Schemas, by full or short name. * stands for any text", Shape: yamlconf.List(&h.Schemas, "names of schemas", nil)},
			{Name: "fields", Doc: "Schema.field, or the name of a field everywhere: it is taken out of the document, arguments and answers", Shape: yamlconf.List(&h.Fields, "names of fields", nil)},
			{Name: "when", Doc: "From whom: an expression over principal, in CEL, that yields true or false. What can't be told hides. Default from everybody", Shape: cel(&h.When, expression.Bool)},
		}, nil), func() { *into = append(*into, h) }
	})
}

// parameters returns the shape of the parameters that rules bind to the principal, appended to into.
func parameters(into *[]calls.Parameter, cel expressionShape) yamlconf.Shape {
	return yamlconf.Items("parameters", func(int) (yamlconf.Shape, func()) {
		var p calls.Parameter
		return yamlconf.Object([]yamlconf.Key{
			{Name: "name", Doc: "Of a path, query or header parameter, or of a field at the top of a body", Must: true, Shape: yamlconf.Words(&p.Name)},
			{Name: "is", Doc: "What it must be: an expression over principal, in CEL. One that fails refuses the call", Must: true, Shape: cel(&p.Is, expression.Scalar)},
			{Name: "operations", Doc: "The operations that it is about. All unless named", Shape: yamlconf.List(&p.Operations, apiPatterns, nil)},
		}, nil), func() { *into = append(*into, p) }
	})
}

// openParametersShape returns the shape of query parameters that the document doesn't declare. They are appended to
// into.
func openParametersShape(into *[]calls.Opened) yamlconf.Shape {
	return yamlconf.Items("parameters", func(int) (yamlconf.Shape, func()) {
		var o calls.Opened
		return yamlconf.Object([]yamlconf.Key{
			{Name: "names", Doc: "Of query parameters", Must: true, Shape: yamlconf.List(&o.Names, "names of parameters", nil)},
			{Name: "operations", Doc: "The operations that take them. All unless named", Shape: yamlconf.List(&o.Operations, apiPatterns, nil)},
		}, nil), func() { *into = append(*into, o) }
	})
}

// apiModes returns the shape of the write mode: one mode for all writes, or one for each class.
func apiModes(into *map[spec.Class]write.Mode) yamlconf.Shape {
	one := func(classes ...spec.Class) yamlconf.Shape {
		return yamlconf.Choose([]string{string(write.Allow), string(write.Review), string(write.Deny)}, func(s string) {
			if *into == nil {
				*into = map[spec.Class]write.Mode{}
			}
			for _, c := range classes {
				(*into)[c] = write.Mode(s)
			}
		})
	}
	return yamlconf.Either(one(spec.ClassWrite, spec.ClassDestructive), yamlconf.Object([]yamlconf.Key{
		{Name: "write", Doc: "allow, review (the default) or deny", Shape: one(spec.ClassWrite)},
		{Name: "destructive", Doc: "allow, review (the default) or deny", Shape: one(spec.ClassDestructive)},
	}, yamlconf.NotEmpty))
}

// synonyms returns the shape of an API's terms, by common words.
func synonyms(into *map[string][]string) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "word", Of: func(word string) (yamlconf.Shape, func()) {
		var others []string
		return yamlconf.List(&others, "words", nil), func() {
			if *into == nil {
				*into = map[string][]string{}
			}
			(*into)[word] = others
		}
	}})
}

// pointerPlace returns the keys below apis.NAME for the pointer of a calls.RuleFault: hidden, 0, fields, 1 for
// /Hidden/0/Fields/1. It returns nil for the document, which is configured in another section.
func pointerPlace(pointer string) []string {
	if pointer == "" || pointer == "/Document" {
		return nil
	}
	keys := strings.Split(strings.ToLower(strings.NewReplacer("ReadBack", "read_back", "OpenParameters", "open_parameters").Replace(strings.TrimPrefix(pointer, "/"))), "/")
	if len(keys) > 1 && (keys[0] == "access" && keys[1] == "rules" || keys[0] == "shown" && keys[1] == "operations") {
		keys = append(keys[:1], keys[2:]...)
	}
	return keys
}

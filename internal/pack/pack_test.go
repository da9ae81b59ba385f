package pack

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// crew is a small API for testing packs.
const crew = `openapi: 3.0.3
info: {title: Crew, version: "1"}
paths:
  /ships/{ship}:
    get:
      operationId: getShip
      parameters: [{name: ship, in: path, required: true, schema: {type: string}}, {name: deep, in: query, schema: {type: boolean}}]
      responses: {"200": {description: OK, content: {application/json: {schema: {$ref: '#/components/schemas/Ship'}}}}}
    put:
      operationId: putShip
      parameters: [{name: ship, in: path, required: true, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Ship'}}}}
      responses: {"200": {description: OK, content: {application/json: {schema: {$ref: '#/components/schemas/Ship'}}}}}
    delete:
      operationId: sinkShip
      parameters: [{name: ship, in: path, required: true, schema: {type: string}}]
      responses: {"204": {description: OK}}
  /crew/:
    get:
      operationId: listCrew
      responses: {"200": {description: OK, content: {application/json: {schema: {type: object, properties: {members: {type: array, items: {$ref: '#/components/schemas/Member'}}}}}}}}
    post:
      operationId: hire
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Member'}}}}
      responses: {"200": {description: OK, content: {application/json: {schema: {$ref: '#/components/schemas/Member'}}}}}
  /crew/check:
    post:
      operationId: checkName
      requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}
      responses: {"200": {description: OK, content: {application/json: {schema: {type: object, properties: {free: {type: boolean}}}}}}}
components:
  schemas:
    Ship: {type: object, required: [name], properties: {name: {type: string}, flags: {type: array, items: {type: object}}, port: {type: object, properties: {city: {type: string}}}}}
    Member: {type: object, required: [name], properties: {name: {type: string}, rank: {type: string}, free: {type: boolean}}}
`

// compiled compiles a pack that consists of one file for the API crew.
func compiled(text string, rules ...spec.ClassRule) ([]*Tool, error) {
	p, err := Load(fstest.MapFS{"crew.yaml": {Data: []byte(text)}, "notes.txt": {Data: []byte("no pack")}}, "p")
	if err != nil {
		return nil, err
	}
	d, err := spec.Load([]byte(crew))
	if err != nil {
		return nil, err
	}
	classes, err := spec.NewClassifier(d, spec.ClassOptions{Rules: append(rules, p.Access...)})
	if err != nil {
		return nil, err
	}
	return p.Compile(d, classes)
}

// TestFaults has a row for each possible fault in a file. The name and description of the only tool begin in line 2.
// text follows them and begins in line 4.
func TestFaults(t *testing.T) {
	const reads, writes = "annotations: {readOnly: true}", "annotations: {}"
	for _, tt := range []struct{ name, text, want string }{
		{"a key", reads + "\n    operations: x", `5:5: tools.0: unknown key "operations". Did you mean operation?`},
		{"an operation", reads + "\n    operation: GET /ship/{ship}", `5:5: tools.0.operation: the document has no operation "GET /ship/{ship}". Did you mean GET /ships/{ship} or PUT /ships/{ship}?`},
		{"no operation", reads, `2:5: tools.0: needs an operation, or a result`},
		{"a missing parameter", reads + "\n    operation: getShip", `2:5: tools.0.path: GET /ships/{ship} needs the path parameter ship`},
		{"a parameter", reads + "\n    operation: getShip\n    path: {ship: x}\n    query: {dep: true}", `7:13: tools.0.query.dep: GET /ships/{ship} has no query parameter "dep". Did you mean deep?`},
		{"a parameter of no operation", reads + "\n    result: {a: b}\n    query: {deep: true}", `6:5: tools.0.query: belongs to an operation`},
		{"a body", reads + "\n    operation: listCrew\n    body: {}", `6:5: tools.0.body: GET /crew/ takes no body`},
		{"no body", writes + "\n    operation: putShip\n    path: {ship: x}", `2:5: tools.0: PUT /ships/{ship} needs a body`},
		{"a field of a body", writes + "\n    operation: hire\n    body: {name: x, rnk: y}", `6:21: tools.0.body.rnk: has no field "rnk". Did you mean rank?`},
		{"a deep field of a body", writes + "\n    operation: putShip\n    path: {ship: x}\n    body: {name: x, port: {citi: y}}", `7:28: tools.0.body.port.citi: has no field "citi". Did you mean city?`},
		{"a missing field of a body", writes + "\n    operation: hire\n    body: {rank: y}", `6:5: tools.0.body: needs the field name`},
		{"an argument", reads + "\n    operation: getShip\n    path: {ship: {$cel: input.ship}}", `6:19: tools.0.path.ship.$cel: character 1 of the expression: the input has no "ship". It has `},
		{"a path of the answer", reads + "\n    operation: listCrew\n    result: {m: $.member}", `6:14: tools.0.result.m: the answer of GET /crew/ has no "member". Write {$cel: …} for what the document leaves out. Did you mean members?`},
		{"a field of the answer", reads + "\n    operation: listCrew\n    fields: [members.nam]", `6:14: tools.0.fields.0: the answer of GET /crew/ has no "nam". Write {$cel: …} for what the document leaves out. Did you mean name?`},
		{"more than a path", reads + "\n    operation: listCrew\n    result: {m: '$.members[0]'}", `6:14: tools.0.result.m: a path is $ and names behind dots: $.teams. For more, write {$cel: answer.teams}`},
		{"an answer of nothing", reads + "\n    result: {m: {$cel: answer.x}}", `5:18: tools.0.result.m.$cel: character 1 of the expression: undeclared reference to 'answer'`},
		{"annotated as a read", reads + "\n    operation: hire\n    body: {name: x}", `4:5: tools.0.annotations: readOnly, and POST /crew/ is classed write. If it reads, say so in access`},
		{"annotated as a write", writes + "\n    operation: listCrew", `4:5: tools.0.annotations: it only reads: readOnly: true`},
		{"not annotated as destructive", writes + "\n    operation: sinkShip\n    path: {ship: x}", `4:5: tools.0.annotations: DELETE /ships/{ship} is classed destructive: the tool needs destructive: true`},
		{"both", "annotations: {readOnly: true, destructive: true}\n    operation: listCrew", `4:5: tools.0.annotations: what only reads can't be destructive`},
		{"a read that writes", reads + "\n    reads: {a: {operation: hire, body: {name: x}}}\n    result: {a: b}", `5:17: tools.0.reads.a.operation: POST /crew/ is classed write. Only what reads can stand here`},
		{"the name of a read", reads + "\n    reads: {input: {operation: listCrew}}\n    result: {a: b}", `5:13: tools.0.reads.input: a name has letters, digits and _, begins with a small letter, and is not one that expressions have already`},
		{"a read that isn't there yet", reads + "\n    reads: {a: {operation: getShip, path: {ship: {$cel: b.x}}}, b: {operation: listCrew}}\n    result: {a: b}", `5:51: tools.0.reads.a.path.ship.$cel: character 1 of the expression: undeclared reference to 'b'`},
		{"a link", reads + "\n    link: {path: '/x/{id}', with: {ip: x}}\n    result: {a: {$cel: link}}", `5:36: tools.0.link.with.ip: the path has no {ip}. Did you mean id?
5:5: tools.0.link: with needs the value of {id}`},
		{"half a merge", reads + "\n    merge: {a: {into: [], set: {}, key: k}}\n    result: {a: b}", `5:16: tools.0.merge.a: a list of entries needs key and value. An object has neither`},
		{"a merge of more than a part", reads + "\n    reads: {a: {operation: listCrew}}\n    merge: {m: {into: {$cel: 'a.members.filter(x, true)'}, set: {}}}\n    result: {a: b}", `6:17: tools.0.merge.m.into: must be a part of what was read, and nothing else: {$cel: instance.settings.env}`},
		{"a check of what reads", reads + "\n    operation: listCrew\n    check_against: ships", `6:5: tools.0.check_against: what reads has nothing to check. Take it out`},
		{"a check", writes + "\n    operation: hire\n    body: {name: x}\n    check_against: {clas: ships}", `7:20: tools.0.check_against: needs the key class
7:21: tools.0.check_against: unknown key "clas". Did you mean class?`},
		{"a requirement", reads + "\n    require: [{that: input.x == 1, message: m, field: y}]\n    operation: listCrew", `5:48: tools.0.require.0.field: the input has no "y"
5:16: tools.0.require.0.that: character 1 of the expression: the input has no "x". It has `},
		{"a case behind all", reads + "\n    cases: [{result: {a: b}}, {result: {a: c}}]", `5:13: tools.0.cases.0: needs when: no case behind it is ever reached`},
		{"cases and more", reads + "\n    operation: listCrew\n    cases: [{result: {a: b}}]", `6:5: tools.0.cases: operation, result and statuses stand in the cases, or there are no cases`},
		{"a status", reads + "\n    operation: listCrew\n    statuses: {\"200\": {}}", `6:16: tools.0.statuses.200: must be a status of an error: 400 to 599`},
		{"what a status tells", reads + "\n    operation: listCrew\n    statuses: {\"409\": {a: $.error}}", `6:24: tools.0.statuses.409.a.$cel: character 1 of the expression: an error of the API has no "error". It has status, code, message`},
		{"a status of a write", writes + "\n    operation: hire\n    body: {name: x}\n    statuses: {\"409\": {a: b}}", `7:16: tools.0.statuses.409: statuses belong to an operation that reads`},
		{"an input", reads + "\n    input: {properties: {a: {$ref: x}}}\n    operation: listCrew", `5:5: tools.0.input: its input schema uses $ref`},
		{"an open input", reads + "\n    input: {additionalProperties: true}\n    operation: listCrew", `5:13: tools.0.input.additionalProperties: is always the same: an object without further arguments. Take it out`},
		{"a default", reads + "\n    input: {properties: {a: {type: string, default: 1}}}\n    operation: listCrew", `5:44: tools.0.input.properties.a.default: the default breaks the schema: a must be a text, not 1`},
		{"the reason", writes + "\n    input: {properties: {reason: {type: string}}}\n    operation: hire\n    body: {name: x}", `5:26: tools.0.input.properties.reason: is an argument that the gateway adds. Choose another name`},
		{"a name twice", reads + "\n    operation: listCrew\n  - {name: a.tool-1, description: d, annotations: {readOnly: true}, operation: listCrew}", `6:6: tools.1.name: another tool of the pack has the name`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compiled("tools:\n  - name: a.tool-1\n    description: d\n    " + tt.text + "\n")
			faults, ok := errors.AsType[*yamlconf.Error](err)
			if !ok {
				t.Fatalf("%v; want %s", err, tt.want)
			}
			var got []string
			for _, f := range faults.Faults {
				got = append(got, fmt.Sprintf("%d:%d: %s: %s", f.Line, f.Column, f.Path, f.Message))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

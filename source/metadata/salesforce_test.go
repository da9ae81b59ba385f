package metadata

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// print formats fields as "name type native flags", one per line.
func print(fields []schema.Field) string {
	lines := []string{}
	for _, f := range fields {
		line := f.Name + " " + f.Type.String() + " " + f.Native
		for _, flag := range []struct {
			on   bool
			name string
		}{{f.NotNull, "notnull"}, {f.Required, "required"}, {f.Generated, "generated"}} {
			if flag.on {
				line += " " + flag.name
			}
		}
		if f.Default != "" {
			line += " default=" + f.Default
		}
		if f.Length != 0 {
			line += fmt.Sprintf(" length=%d", f.Length)
		}
		if f.Description != "" {
			line += " (" + f.Description + ")"
		}
		if f.Values != nil {
			line += fmt.Sprintf(" %v", f.Values)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func sf(fields string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><sfObject n="Account" t="001 Account" detailsLoaded="true"><fields>` + fields + `</fields></sfObject>`
}

func custom(fields string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><CustomObject xmlns="http://soap.sforce.com/2006/04/metadata">` + fields + `</CustomObject>`
}

func utf16Of(s string, big, mark bool) string {
	var b strings.Builder
	units := utf16.Encode([]rune(s))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	for _, u := range units {
		if big {
			b.Write([]byte{byte(u >> 8), byte(u)})
		} else {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
	}
	return b.String()
}

const short = `{"fields": [{"name": "Née", "type": "string", "nillable": false}]}`

// TestSalesforceRead checks the fields or the error of each file.
func TestSalesforceRead(t *testing.T) {
	for _, c := range []struct{ name, ending, file, want string }{
		{"json", ".json", `{"name": "Account", "fields": [
			{"name": "Name", "type": "string", "defaultValue": null, "nillable": false},
			{"name": "Phone", "type": "phone", "defaultValue": null, "nillable": true},
			{"name": "Stage", "type": "picklist", "defaultValue": "New", "nillable": false, "length": 40, "label": "The stage",
			 "picklistValues": [{"value": "New", "active": true}, {"value": "Old", "active": false}, {"value": "Won"}]}]}`,
			"Name string string notnull required\nPhone string phone\nStage string picklist notnull default=New length=40 (The stage) [New Won]"},
		{"json, what the organisation fills in", ".json", `{"fields": [{"name": "Id", "type": "id", "nillable": false, "defaultedOnCreate": true},
			{"name": "IsDeleted", "type": "boolean", "nillable": false, "createable": false, "defaultValue": false}, {"name": "N", "nillable": false, "createable": true}]}`,
			"Id string id notnull generated\nIsDeleted boolean boolean notnull generated default=false\nN any unknown notnull required"},
		{"json, true as a text", ".json", `{"fields": [{"name": "A", "required": true}, {"name": "B", "required": "true"}, {"name": "C", "nillable": "false"},
			{"name": "D", "required": "yes"}, {"name": "E", "required": false, "nillable": false}, {"name": "F", "required": null}]}`,
			"A any unknown notnull required\nB any unknown notnull required\nC any unknown notnull required\nD any unknown\nE any unknown notnull required\nF any unknown"},
		{"json, missing nillable", ".json", `{"fields": [{"name": "A", "type": "int"}]}`, "A integer int"},
		{"json, a default that is a number, and one that is a list", ".json", `{"fields": [{"name": "A", "defaultValue": 1.50}, {"name": "B", "defaultValue": [1]}]}`,
			"A any unknown default=1.50\nB any unknown"},
		{"json, stub", ".json", `{"name": "Account"}`, ""},
		{"json, no fields", ".json", `{"fields": []}`, ""},
		{"json, null fields", ".json", `{"fields": null}`, ""},
		{"json, a nameless field", ".json", `{"fields": [{"type": "string"}, {"name": null}, {"name": ""}, {"name": "A"}]}`, "A any unknown"},
		{"json, one name twice", ".json", `{"fields": [{"name": "A", "type": "int"}, {"name": "A", "type": "string"}]}`, "A integer int"},
		{"json, byte order mark", ".json", "\xEF\xBB\xBF" + short, "Née string string notnull required"},
		{"json, UTF-16 with a mark", ".json", utf16Of(short, false, true), "Née string string notnull required"},
		{"json, UTF-16 big endian", ".json", utf16Of(short, true, true), "Née string string notnull required"},
		{"json, UTF-16 without a mark", ".json", utf16Of(short, false, false), "Née string string notnull required"},
		{"json, fields is an object", ".json", `{"fields": {}}`, "! fields is not a list"},
		{"json, fields is a text", ".json", `{"fields": "Name"}`, "! fields is not a list"},
		{"json, a field is a text", ".json", `{"fields": ["Name"]}`, "! fields has an element that is no field"},
		{"json, a name is a number", ".json", `{"fields": [{"name": 7}]}`, "! the name of a field is no text"},
		{"json, a list", ".json", `[]`, "! the file describes no object: it is no JSON object"},
		{"json, null", ".json", `null`, "! the file describes no object: it is no JSON object"},
		{"json, empty", ".json", ``, "! the file is empty"},
		{"json, blank", ".json", ` `, "! the file is not valid JSON: it ends too early"},
		{"json, half written", ".json", `{"fields": [{"name": "A"`, "! the file is not valid JSON: it ends too early"},
		{"json, half a list", ".json", `{"fields": [`, "! the file is not valid JSON: it ends too early"},
		{"json, half a member", ".json", `{"fields":`, "! the file is not valid JSON: it ends too early"},
		{"json, two documents", ".json", `{} {}`, "! the file is not valid JSON: there is more after the document"},
		{"json, a key twice", ".json", `{"fields": [], "fields": [{"name": "A"}]}`, "! the file is not valid JSON at byte 15"},
		{"json, no text", ".json", "{\"fields\": [{\"name\": \"\xff\"}]}", "! the file is not valid JSON at byte 22"},
		{"json, deep", ".json", `{"x": ` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `, "fields": []}`, ""},
		{"json, too deep", ".json", `{"x": ` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, "! the file is nested deeper than 64"},
		{"json, deepest", ".json", strings.Repeat(`{"a":`, 1_000_000), "! the file is nested deeper than 64"},
		{"json, XML in it", ".json", sf(""), "! the file is not valid JSON at byte 0"},
		{"json, control characters", ".json", `{"fields": [{"name": "A\nB"}]}`, "! the name of a field has characters that don't show"},
		{"json, turned around", ".json", `{"fields": [{"name": "A\u202eB"}]}`, "! the name of a field has characters that don't show"},
		{"json, a long name", ".json", `{"fields": [{"name": "` + strings.Repeat("a", 256) + `"}]}`, "! the name of a field is longer than 255 bytes"},

		{"xml", ".xml", sf(`<sfField n="Name" type="string" required="true"/><sfField n="Active" type="_boolean" required="false"/><sfField n="Fax"/>`),
			"Name string string notnull required\nActive boolean _boolean\nFax any unknown"},
		{"xml, single quotes and a comment", ".xml", `<!-- by hand --><sfObject><fields><sfField n='A' type='date' required=' true '><sfField n="inner"/>x</sfField></fields></sfObject>` + "\n<!-- end -->\n",
			"A day date notnull required"},
		{"xml, other lists", ".xml", `<sfObject><childs><sfField n="no"/></childs><fields><x/><sfField n="A"/></fields><fields><sfField n="second"/></fields></sfObject>`, "A any unknown"},
		{"xml, stub", ".xml", `<sfObject n="Account" detailsLoaded="false"/>`, ""},
		{"xml, no fields", ".xml", sf(""), ""},
		{"xml, required TRUE", ".xml", sf(`<sfField n="A" required="TRUE"/><sfField n="B" required="1"/>`), "A any unknown\nB any unknown"},
		{"xml, nameless", ".xml", sf(`<sfField type="string"/><sfField n="" required="true"/>`), ""},
		{"xml, byte order mark", ".xml", "\xEF\xBB\xBF" + sf(`<sfField n="Née"/>`), "Née any unknown"},
		{"xml, UTF-16", ".xml", utf16Of(`<?xml version="1.0" encoding="UTF-16"?><sfObject><fields><sfField n="Née"/></fields></sfObject>`, false, true), "Née any unknown"},
		{"xml, UTF-16 big endian", ".xml", utf16Of(sf(`<sfField n="Née"/>`), true, true), "Née any unknown"},
		{"xml, Latin 1", ".xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><sfObject><fields><sfField n=\"N\xe9e\"/></fields></sfObject>", "Née any unknown"},
		{"xml, an encoding of its own", ".xml", `<?xml version="1.0" encoding="x-mine"?><sfObject/>`, "! the file is in an encoding that is not read. UTF-8 and UTF-16 are"},
		{"xml, the five entities", ".xml", sf(`<sfField n="A&amp;B&#65;"/>`), "A&BA any unknown"},
		{"xml, an entity bomb", ".xml", `<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>` + sf(`<sfField n="&b;"/>`), "! the file has a document type, which is not read"},
		{"xml, an outside entity", ".xml", `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><sfObject><fields><sfField n="&e;"/></fields></sfObject>`, "! the file has a document type, which is not read"},
		{"xml, an unknown entity", ".xml", sf(`<sfField n="&e;"/>`), "! the file is not well-formed XML, at line 1"},
		{"xml, half written", ".xml", "<sfObject>\n<fields>\n<sfField n=\"A\"", "! the file is not well-formed XML, at line 3"},
		{"xml, cut after an element", ".xml", "<sfObject><fields>", "! the file is not well-formed XML, at line 1"},
		{"xml, a second root", ".xml", "<sfObject/><sfObject/>", "! the file is not well-formed XML: it has a second root"},
		{"xml, text after the root", ".xml", "<sfObject/>x", "! the file is not well-formed XML: there is text after the root"},
		{"xml, another root", ".xml", "<html/>", "! the file describes no object: its root is neither sfObject nor CustomObject"},
		{"xml, no element", ".xml", "plain text", "! the file is not well-formed XML: it ends too early"},
		{"xml, XML 1.1", ".xml", `<?xml version="1.1"?><sfObject/>`, "! the file is not XML 1.0 as it is read here"},
		{"xml, deep", ".xml", "<sfObject>" + strings.Repeat("<a>", 63) + strings.Repeat("</a>", 63) + "</sfObject>", ""},
		{"xml, too deep", ".xml", "<sfObject>" + strings.Repeat("<a>", 64) + strings.Repeat("</a>", 64) + "</sfObject>", "! the file is nested deeper than 64"},
		{"xml, deepest", ".xml", strings.Repeat("<a>", 1_000_000), "! the file describes no object: its root is neither sfObject nor CustomObject"},
		{"xml, no text", ".xml", sf("<sfField n=\"\xff\"/>"), "! the file is not well-formed XML, at line 1"},

		{"object", ".object", custom(`<label>Invoice</label>
			<fields><fullName>Amount__c</fullName><label>Amount</label><type>Currency</type><precision>18</precision><required>true</required></fields>
			<fields><fullName>Code__c</fullName><type>Text</type><length>12</length><required>false</required><defaultValue>"X"</defaultValue></fields>
			<fields><fullName>State__c</fullName><type>Picklist</type><valueSet><restricted>true</restricted><valueSetDefinition><sorted>false</sorted>
				<value><fullName>Open</fullName><default>true</default><label>Open</label></value><value><fullName>Void</fullName><isActive>false</isActive></value>
				<value><fullName>Paid</fullName></value></valueSetDefinition></valueSet></fields>
			<fields><fullName>Old__c</fullName><type>MultiselectPicklist</type><picklist><picklistValues><fullName>A</fullName></picklistValues><picklistValues><fullName>B</fullName></picklistValues></picklist></fields>`),
			"Amount__c decimal Currency notnull required (Amount)\nCode__c string Text default=\"X\" length=12\nState__c string Picklist [Open Paid]\nOld__c string MultiselectPicklist [A B]"},
		{"object, the tooling API", ".xml", `<toolingObjectInfo><fields><name>A</name><type>checkbox</type></fields></toolingObjectInfo>`, "A boolean checkbox"},
		{"object, the full name wins", ".object", custom(`<fields><name>Label</name><fullName>A__c</fullName></fields>`), "A__c any unknown"},
		{"object, missing required", ".object", custom(`<fields><fullName>A</fullName><type>Text</type></fields>`), "A string Text"},
		{"object, no fields", ".object", custom(``), ""},
		{"object, an sfObject", ".object", sf(`<sfField n="A"/>`), "A any unknown"},
		{"another ending", ".csv", "", "! the file is empty"},
		{"another ending with text", ".csv", "a", `! files that end in ".csv" are not read`},
		{"half a character", ".json", "\xff\xfe{", "! the file ends within a character of UTF-16"},
		{"half a pair", ".json", "\xff\xfe\x00\xd8\x20\x00", "! the file has what is no character of its encoding"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields, err := readSalesforce(c.ending, []byte(c.file))
			got := print(fields)
			if err != nil {
				got = "! " + problem.Of(err).Detail
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if err != nil && (problem.CodeOf(err) != problem.Upstream || fields != nil) {
				t.Errorf("%v with %d fields", err, len(fields))
			}
		})
	}
}

// TestBounds checks files of allowed size that exceed other limits.
func TestBounds(t *testing.T) {
	fields := make([]string, maxFields+1)
	for i := range fields {
		fields[i] = fmt.Sprintf(`{"name": "F%d"}`, i)
	}
	if _, err := readSalesforce(".json", []byte(`{"fields": [`+strings.Join(fields, ",")+`]}`)); err == nil || problem.Of(err).Detail != "the file has more than 5000 fields" {
		t.Errorf("%d fields: %v", len(fields), err)
	}
	got, err := readSalesforce(".json", []byte(`{"fields": [`+strings.Join(fields[:maxFields], ",")+`]}`))
	if len(got) != maxFields || err != nil {
		t.Errorf("%d fields: %d, %v", maxFields, len(got), err)
	}
	long := strings.Repeat("é", 8_000)
	got, err = readSalesforce(".json", []byte(`{"fields": [{"name": "A", "type": "`+long+`", "label": "`+long+`", "defaultValue": "`+long+`", "length": 99999999999, "picklistValues": ["`+long+`"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	f := got[0]
	if len(f.Native) != 254 || len(f.Description) != 4000 || len(f.Default) != 4000 || len(f.Values[0].Text()) != 4000 || f.Length != 0 {
		t.Errorf("lengths %d %d %d %d, length %d", len(f.Native), len(f.Description), len(f.Default), len(f.Values[0].Text()), f.Length)
	}
	allocs := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		bomb := []byte(`{"x": [` + strings.Repeat("[],", 1_000_000) + `0]}`)
		for b.Loop() {
			if _, err := readSalesforce(".json", bomb); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if allocs > 1<<20 {
		t.Errorf("three million brackets take %d bytes", allocs)
	}
}

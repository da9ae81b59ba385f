package config

import "encoding/json"

// JSONSchema returns the JSON Schema (draft 2020-12) of the file for editors, made from the tables that Parse
// reads by. What Parse checks beyond it: references between keys, where objects, and what ${…} stand for.
func JSONSchema() []byte {
	s := new(Config).shape().described("The configuration of Bailiwick")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "bailiwick.yaml"
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // maps of plain data always encode
	}
	return append(b, '\n')
}

package config

// JSONSchema returns the JSON Schema (draft 2020-12) of the file for editors, made from the tables that Parse
// reads by. What Parse checks beyond it: references between keys, where objects, and what ${…} stand for.
func JSONSchema() []byte {
	return new(Config).shape().JSONSchema("bailiwick.yaml", "The configuration of Bailiwick")
}

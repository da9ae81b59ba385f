package config

// JSONSchema returns the JSON Schema (draft 2020-12) of the file for editors, made from the same tables that Parse
// uses. It doesn't cover the other checks of Parse: references between keys, where objects, and the values of ${…}.
func JSONSchema() []byte {
	return new(Config).shape().JSONSchema("bailiwick.yaml", "The configuration of Bailiwick")
}

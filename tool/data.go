package tool

import "time"

// The times that calls may take (design 03).
const (
	schemaTimeout = 15 * time.Second
	getTimeout    = 10 * time.Second
	countTimeout  = 20 * time.Second
	queryTimeout  = 30 * time.Second
)

// The limits of the data tools (design 03).
const (
	defaultLimit  = 100
	maxIDs        = 50
	defaultSample = 5
)

// Data returns the tools over data.
func Data() []Tool {
	return []Tool{getAllSchemas(), getSchema(), queryClass(), countObjects(), getObject(), getObjects(), getSampleObjects()}
}

// Lean names the tools of the profile for agents with a small context.
func Lean() []string {
	return []string{"get_all_schemas", "get_schema", "query_class", "count_objects", "get_object"}
}

// reads are the annotations of a tool that only reads data of ours.
func reads() Annotations { return Annotations{ReadOnly: true, Idempotent: true} }

package tool

import (
	"cmp"
	"time"
)

// The times that calls may take (design 03).
const (
	schemaTimeout = 15 * time.Second
	getTimeout    = 10 * time.Second
	countTimeout  = 20 * time.Second
	queryTimeout  = 30 * time.Second

	explainTimeout   = 30 * time.Second
	aggregateTimeout = 60 * time.Second
	exportTimeout    = 60 * time.Second
)

// maxIDs is the most different ids of one get_objects (design 03).
const maxIDs = 50

// Options are what an owner may set of the data tools. The zero Options take the defaults of design 03.
type Options struct {
	QueryRows  int                      // records of query_class when a call names no limit; 0 takes 100, at most 1,000
	SampleRows int                      // records of get_sample_objects when a call names no limit; 0 takes 5, at most 20
	Timeouts   map[string]time.Duration // by tool name; tools that are not named keep their own
	Writing    Writing                  // what get_schema tells of writes; nil tells that nothing is writable
}

// Data returns the tools over data.
func Data(o Options) []Tool {
	tools := []Tool{listTools(), getAllSchemas(), getSchema(o.Writing), queryClass(cmp.Or(o.QueryRows, 100)), countObjects(), getObject(), getObjects(),
		getSampleObjects(cmp.Or(o.SampleRows, 5)), aggregate(), groupBy(), groupByDate(), distinct(), exportData(), explainQuery(), textSearch()}
	for i := range tools {
		if d, ok := o.Timeouts[tools[i].Name]; ok {
			tools[i].Timeout = d
		}
	}
	return tools
}

// Lean names the tools of the profile for agents with a small context.
func Lean() []string {
	return []string{"get_all_schemas", "get_schema", "query_class", "count_objects", "get_object"}
}

// reads are the annotations of a tool that only reads data of ours.
func reads() Annotations { return Annotations{ReadOnly: true, Idempotent: true} }

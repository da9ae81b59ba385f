package tool

import (
	"cmp"
	"time"
)

// Timeouts of the tools.
const (
	schemaTimeout = 15 * time.Second
	getTimeout    = 10 * time.Second
	countTimeout  = 20 * time.Second
	queryTimeout  = 30 * time.Second

	explainTimeout   = 30 * time.Second
	aggregateTimeout = 60 * time.Second
	exportTimeout    = 60 * time.Second
)

// maxIDs is the maximum number of different IDs in one get_objects call.
const maxIDs = 50

// Options configure the data tools. The zero value takes the defaults.
type Options struct {
	QueryRows  int                      // default limit of query_class; 0 means 100, at most 1,000
	SampleRows int                      // default limit of get_sample_objects; 0 means 5, at most 20
	Timeouts   map[string]time.Duration // by tool name; others keep their defaults
	Writing    Writing                  // what get_schema reports about writes; nil means that nothing is writable
}

// Data returns the tools that read data.
func Data(o Options) []Tool {
	tools := []Tool{listTools(), getAllSchemas(), getSchema(o.Writing), queryClass(cmp.Or(o.QueryRows, 100)), countObjects(), getObject(), getObjects(),
		getSampleObjects(cmp.Or(o.SampleRows, 5)), aggregate(), groupBy(), groupByDate(), distinct(), exportData(), querySQL(), explainQuery(), textSearch()}
	for i := range tools {
		tools[i].own = tools[i].Input
		if d, ok := o.Timeouts[tools[i].Name]; ok {
			tools[i].Timeout = d
		}
	}
	return tools
}

// StandardProfile is the name of the profile that lists the tools of Standard. The others of Data and those of changes can
// be called by name.
const StandardProfile = "standard"

// Standard returns the names of the tools that most questions and changes need.
func Standard() []string {
	return []string{"list_tools", "get_all_schemas", "get_schema", "query_sql", "query_class", "aggregate", "propose_changes", "get_change", "reply_to_change"}
}

// Profiles returns the names of the tools of each profile, for agents with a small context: lean finds and counts records,
// sql asks with SELECT.
func Profiles() map[string][]string {
	return map[string][]string{
		"lean": {"get_all_schemas", "get_schema", "query_class", "count_objects", "get_object"},
		"sql":  {"get_all_schemas", "get_schema", "query_sql"},
	}
}

// reads returns the annotations of a tool that only reads data.
func reads() Annotations { return Annotations{ReadOnly: true, Idempotent: true} }

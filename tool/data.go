package tool

import (
	"cmp"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/value"
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

// Options configure the data tools. The zero value has the defaults.
type Options struct {
	QueryRows  int                      // default limit of query_class. 0 means 100, at most 1,000
	SampleRows int                      // default limit of get_sample_objects. 0 means 5, at most 20
	Timeouts   map[string]time.Duration // by tool name. Other tools keep their defaults
	Writing    Writing                  // the facts about writes that get_schema reports. Nil means that nothing is writable
	Shut       bool                     // callers can't switch off any canonical filter: the tools don't have apply_canonical_filter
}

// Data returns the tools that read data.
func Data(o Options) []Tool {
	tools := []Tool{listTools(), getAllSchemas(o.Writing), getSchema(o.Writing), queryClass(cmp.Or(o.QueryRows, 100)), countObjects(), getObject(), getObjects(),
		getSampleObjects(cmp.Or(o.SampleRows, 5)), aggregate(), groupBy(), groupByDate(), distinct(), exportData(), querySQL(), runQuery(), explainQuery(), textSearch(), findValues(), queryMetrics()}
	for i := range tools {
		tools[i].queries = true
		if o.Shut { // a call with it gets the refusal that the owner fixed the filter
			tools[i].takes = tools[i].Input
			tools[i].Input = without(tools[i].Input, "apply_canonical_filter")
		}
		tools[i].own = tools[i].Input
		if d, ok := o.Timeouts[tools[i].Name]; ok {
			tools[i].Timeout = d
		}
	}
	return tools
}

// FullProfile is the name of the profile that lists all tools. Without a profile only the tools of Standard are listed.
// Agents can still call the other tools of Data and for changes by name.
const FullProfile = "full"

// Standard returns the names of the tools that most questions and changes need.
func Standard() []string {
	return []string{"list_tools", "get_all_schemas", "get_schema", "query_sql", "query_class", "run_query", "aggregate", "query_metrics", "propose_changes", "get_change", "reply_to_change"}
}

// Profiles returns the names of the tools of each profile, for agents with a small context. lean finds and counts
// records, and sql runs SELECT statements.
func Profiles() map[string][]string {
	return map[string][]string{
		"lean": {"get_all_schemas", "get_schema", "query_class", "count_objects", "get_object"},
		"sql":  {"get_all_schemas", "get_schema", "query_sql"},
	}
}

// reads returns the annotations of a tool that only reads data.
func reads() Annotations { return Annotations{ReadOnly: true, Idempotent: true} }

// without returns the schema of an object without one of its properties.
func without(schema []byte, name string) []byte {
	v, err := value.Read(schema, 0)
	if err != nil {
		return schema // NewSet refuses it and reports the reason
	}
	members := v.Members()
	for i, m := range members {
		if m.Name == "properties" {
			kept := slices.DeleteFunc(m.Value.Members(), func(p value.Member) bool { return p.Name == name })
			members[i].Value = value.OfObject(kept)
		}
	}
	return value.OfObject(members).AppendJSON(nil)
}

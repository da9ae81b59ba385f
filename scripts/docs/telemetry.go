package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
)

// metrics describes the telemetry of calls for operators.
func metrics() ([]byte, error) {
	all, err := telemetry.Described()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(generated + aboutTelemetry + "\n## Metrics\n\n| metric | type | labels | |\n|---|---|---|---|\n")
	for _, m := range all {
		labels := ""
		if m.Labels != nil {
			labels = "`" + strings.Join(m.Labels, "` `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labels, cell(m.Help))
	}
	b.WriteString(aboutMetrics)
	return b.Bytes(), nil
}

const aboutTelemetry = `# Telemetry

What ` + "`bailiwick serve`" + ` shows operators of calls: a line of the log each, traces, and metrics. Values of filters, records and rules,
credentials and the words of databases appear in none of them; a test looks for fifty canaries in all of them.

` + "```yaml" + `
server: {metrics: {listen: 127.0.0.1:9464}}   # or true: /metrics beside /mcp, for a token with the scope audit or operator
log: {level: info, calls: true}
telemetry:                                    # traces; without it there are none
  otlp: {endpoint: "https://collector.example:4318", headers: {authorization: "file:otlp-token"}}
  sample: 0.1
  environment: false                          # true: OTEL_* variables say what isn't said here
` + "```" + `

On an address that only this machine can reach, metrics are shown to everybody on it; on any other, to a token with the scope ` + "`audit`" + ` or ` + "`operator`" + `:
` + "`bailiwick token create --name prometheus --kind human --owner ops --scopes audit`" + `. [grafana.json](grafana.json) is a dashboard of these metrics.

## Lines of the log

One JSON object at level info, ` + "`\"msg\":\"call\"`" + `, on standard error, for each call that is refused, fails or is cancelled; with ` + "`log: {calls: true}`" + ` for every
call, with ` + "`calls: false`" + ` for none. The audit has every call in any case.

| field | |
|---|---|
| ` + "`tool`" + ` | as it is registered; ` + "`(unknown)`" + ` for a name that nobody registered |
| ` + "`outcome`" + ` | ok, refused, failed or cancelled |
| ` + "`error_code`, `kind`" + ` | what the agent was told, and the true reason; absent when it is ok |
| ` + "`duration_ms`, `rows`, `result_bytes`" + ` | from admission to the end of the answer |
| ` + "`est_input_tokens`, `est_cost_usd`" + ` | bytes/4, and that at ` + "`limits.price_per_million_tokens`" + ` |
| ` + "`principal`, `owner`, `scopes`" + ` | who asked |
| ` + "`parent`, `depth`" + ` | whose sub-principal that is; absent for none |
| ` + "`correlation_id`" + ` | as the audit has it |
| ` + "`policy`" + ` | the version of the rules that decided |
| ` + "`trace_id`, `span_id`" + ` | where the call is part of a trace |

Errors in other lines are told by their codes (` + "`SQLSTATE 22P02 (statement 0d2b216ae2c0787d)`" + `): what a database says can hold values. It is
repeated only about connections and rights. The statement is named by the first 16 digits of the SHA-256 of its text.

## Traces

A request is a span ` + "`tools/call query_class`" + ` of kind server, by the [conventions of OpenTelemetry for MCP](https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/);
its parent is what ` + "`traceparent`" + ` names, in ` + "`_meta`" + ` or else in the header. A client that sends one decides whether it is traced. Below it:

| span | is |
|---|---|
| ` + "`policy`" + ` | the question becomes a permit, or is refused |
| ` + "`compile`" + ` | the permit becomes a statement |
| ` + "`shape`" + ` | records become a page. It draws them from the source, so the next one runs inside of its time |
| ` + "`source`" + ` | the statement, to its last record: ` + "`db.system.name`, `bailiwick.source`, `bailiwick.class`, `bailiwick.statement`" + ` |
| ` + "`audit`" + ` | the record is kept |

The request's attributes are those of the line, with ` + "`bailiwick.`" + ` before them, and ` + "`mcp.method.name`, `mcp.protocol.version`, `network.transport`, `gen_ai.tool.name`" + `.
A span that failed has the code in ` + "`error.type`" + ` and no message. A call in process, without a door, is a span ` + "`execute_tool query_class`" + `.
`

const aboutMetrics = `
` + "`go_*` and `process_*`" + ` are those of the Prometheus client. Labels take words of ours alone: names of registered tools, codes and kinds; who
asked and what for are in the log and the audit.
`

package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
)

// metrics describes the telemetry of calls for operators.
func metrics() ([]byte, error) {
	all, err := telemetry.AllMetrics()
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

` + "`" + `bailiwick serve` + "`" + ` shows operators each call as a log line, as a trace and in metrics. None of them contains values of filters, records or rules, credentials, or texts of
databases. A test looks for fifty canaries in all of them.

` + "`" + `` + "`" + `` + "`" + `yaml
server: {metrics: {listen: 127.0.0.1:9464}}   # or true: /metrics beside /mcp, for a token with the scope audit or operator
log: {level: info, calls: true}
telemetry:                                    # traces. Without it there are none
  otlp: {endpoint: "https://collector.example:4318", headers: {authorization: "file:otlp-token"}}
  sample: 0.1
  environment: false                          # true: OTEL_* variables set the rest
` + "`" + `` + "`" + `` + "`" + `

On an address of this machine everybody can read the metrics. On other addresses they require a token with the scope ` + "`" + `audit` + "`" + ` or ` + "`" + `operator` + "`" + `:
` + "`" + `bailiwick token create --name prometheus --kind human --owner ops --scopes audit` + "`" + `. [grafana.json](grafana.json) is a dashboard.

Traces are sent as protobuf over HTTP. With ` + "`" + `environment: true` + "`" + ` the gateway reads the variables ` + "`" + `OTEL_EXPORTER_OTLP_ENDPOINT` + "`" + `, ` + "`" + `HEADERS` + "`" + `, ` + "`" + `TIMEOUT` + "`" + `,
` + "`" + `COMPRESSION` + "`" + `, ` + "`" + `CERTIFICATE` + "`" + `, ` + "`" + `CLIENT_CERTIFICATE` + "`" + `, ` + "`" + `CLIENT_KEY` + "`" + ` and ` + "`" + `PROTOCOL` + "`" + `, or their forms for traces. A value that it can't use stops the start.
` + "`" + `PROTOCOL` + "`" + ` must be ` + "`" + `http/protobuf` + "`" + `. ` + "`" + `INSECURE` + "`" + ` is ignored, because the scheme of the endpoint decides.

## Lines of the log

A call that is refused, fails or is cancelled writes one JSON object at level info, ` + "`" + `"msg":"call"` + "`" + `, on standard error. ` + "`" + `log: {calls: true}` + "`" + ` logs every call, and
` + "`" + `calls: false` + "`" + ` none. The audit has every call in any case.

| field | |
|---|---|
| ` + "`" + `tool` + "`" + ` | the name of the tool, or ` + "`" + `(unknown)` + "`" + ` |
| ` + "`" + `outcome` + "`" + ` | ok, refused, failed or cancelled |
| ` + "`" + `error_code` + "`" + `, ` + "`" + `kind` + "`" + ` | the code that the agent reads, and the true reason |
| ` + "`" + `duration_ms` + "`" + `, ` + "`" + `rows` + "`" + `, ` + "`" + `result_bytes` + "`" + ` | from admission to the end of the answer |
| ` + "`" + `est_input_tokens` + "`" + `, ` + "`" + `est_cost_usd` + "`" + ` | bytes/4, and their price by ` + "`" + `limits.price_per_million_tokens` + "`" + ` |
| ` + "`" + `principal` + "`" + `, ` + "`" + `owner` + "`" + `, ` + "`" + `scopes` + "`" + ` | the caller |
| ` + "`" + `parent` + "`" + `, ` + "`" + `depth` + "`" + ` | the parent of a sub-principal |
| ` + "`" + `correlation_id` + "`" + ` | as in the audit |
| ` + "`" + `policy` + "`" + ` | the version of the rules that decided |
| ` + "`" + `trace_id` + "`" + `, ` + "`" + `span_id` + "`" + ` | if the call is part of a trace |

Other lines name errors by their codes (` + "`" + `SQLSTATE 22P02 (statement 0d2b216ae2c0787d)` + "`" + `), because texts of databases can hold values. Only texts about connections and rights are
repeated. The statement is the first 16 digits of the SHA-256 of its text.

## Traces

A request is a span ` + "`" + `tools/call query_class` + "`" + ` of kind server, by the [conventions of OpenTelemetry for MCP](https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/). Its parent is
` + "`" + `traceparent` + "`" + `, in ` + "`" + `_meta` + "`" + ` or in the header. A client that sends one decides whether the call is traced. Below it:

| span | covers |
|---|---|
| ` + "`" + `policy` + "`" + ` | from the query to a permit or a refusal |
| ` + "`" + `compile` + "`" + ` | from the permit to a statement |
| ` + "`" + `shape` + "`" + ` | from records to a page. It reads from the source, so the next span is inside its time |
| ` + "`" + `source` + "`" + ` | the statement, to its last record: ` + "`" + `db.system.name` + "`" + `, ` + "`" + `bailiwick.source` + "`" + `, ` + "`" + `bailiwick.class` + "`" + `, ` + "`" + `bailiwick.statement` + "`" + ` |
| ` + "`" + `audit` + "`" + ` | writing the record |

The attributes of the request are those of the log line with ` + "`" + `bailiwick.` + "`" + ` before them, and ` + "`" + `mcp.method.name` + "`" + `, ` + "`" + `mcp.protocol.version` + "`" + `, ` + "`" + `network.transport` + "`" + `, ` + "`" + `gen_ai.tool.name` + "`" + `.
A failed span has the code in ` + "`" + `error.type` + "`" + ` and no message. A call inside the process is a span ` + "`" + `execute_tool query_class` + "`" + `.
`

const aboutMetrics = `
` + "`" + `go_*` + "`" + ` and ` + "`" + `process_*` + "`" + ` come from the Prometheus client. Labels hold only names of registered tools, codes and kinds. The log and the audit say who asked and for what.

## The queue of changes

The metrics of changes describe the store. Each process that shares the store reports the same numbers, so take the ` + "`" + `max` + "`" + ` of all instances and never the
sum. The counters begin at 0 when the process begins. The numbers of waiting changes are at most 5 seconds old. Numbers that the gateway can't read are absent.
` + "`" + `source` + "`" + ` is a source of the configuration, ` + "`" + `risk` + "`" + ` is low, medium or high, and anything else is ` + "`" + `other` + "`" + `. Changes that a rule allows without review are not decided.

Two rules for Prometheus. The first fires if a change has waited for 4 hours, and nobody has decided about any change in this time.

` + "`" + `` + "`" + `` + "`" + `yaml
groups:
  - name: bailiwick
    rules:
      - alert: NobodyDecides
        expr: |
          max(bailiwick_changes_waiting_oldest_age_seconds) > 4 * 3600
          unless max(sum by (instance) (increase(bailiwick_changes_decided_total[4h]))) > 0
        labels: {severity: warning}
        annotations: {summary: "A change has waited for 4 hours, and nobody has decided about any change since"}
      - alert: ChangesFail
        expr: |
          max by (source) (sum by (instance, source) (
            increase(bailiwick_changes_outcomes_total{outcome=~"failed|unknown"}[15m]))) > 0
        labels: {severity: warning}
        annotations: {summary: "Approved changes of {{ $labels.source }} fail, or their outcome is unknown"}
` + "`" + `` + "`" + `` + "`" + `
`

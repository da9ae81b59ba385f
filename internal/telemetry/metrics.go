package telemetry

import (
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// seconds are the buckets in the semantic conventions for MCP operations, with smaller buckets added. short has still
// smaller buckets.
var (
	seconds = []float64{0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	short   = []float64{0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}
)

// metrics contains all metrics. Labels have only values that the program defines: names of registered tools, codes
// and kinds.
type metrics struct {
	operations *prometheus.HistogramVec

	calls     *prometheus.CounterVec
	durations *prometheus.HistogramVec
	rows      *prometheus.CounterVec
	bytes     *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	cost      *prometheus.CounterVec
	running   prometheus.Gauge
	refusals  *prometheus.CounterVec
	limits    *prometheus.CounterVec
	kinds     *few

	auditSeconds  prometheus.Histogram
	auditFailures prometheus.Counter

	responses *prometheus.CounterVec
	refused   *prometheus.CounterVec

	reloads     *prometheus.CounterVec
	reloadGood  prometheus.Gauge
	reloadTime  prometheus.Gauge
	unsentSpans prometheus.Counter
}

// newMetrics returns all metrics in a separate registry, with the metrics of Go and of the process. No label has a
// value that a caller chooses or that could identify a caller.
func newMetrics(version string) (*prometheus.Registry, *metrics) {
	r := prometheus.NewRegistry()
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
		r.MustRegister(v)
		return v
	}
	gauge := func(name, help string) prometheus.Gauge {
		v := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		r.MustRegister(v)
		return v
	}
	m := &metrics{
		operations: histogram("mcp_server_operation_duration_seconds", "How long requests and notifications of MCP took, from when they were let in (mcp.server.operation.duration).",
			seconds, "mcp_method_name", "gen_ai_tool_name", "error_type", "mcp_protocol_version", "network_transport"),
		calls:         counter("bailiwick_calls_total", "Calls, by tool, outcome (ok, refused, failed, cancelled) and error_code.", "tool", "outcome", "error_code"),
		durations:     histogram("bailiwick_call_duration_seconds", "How long calls took, from admission to the end of the answer.", seconds, "tool"),
		rows:          counter("bailiwick_call_rows_total", "Records that left.", "tool"),
		bytes:         counter("bailiwick_call_result_bytes_total", "Bytes of results.", "tool"),
		tokens:        counter("bailiwick_call_est_input_tokens_total", "Tokens that results are to a model, estimated as bytes/4.", "tool"),
		cost:          counter("bailiwick_call_est_cost_usd_total", "What these tokens cost at limits.price_per_million_tokens, in US dollars.", "tool"),
		running:       gauge("bailiwick_calls_running", "Calls that have begun and not ended."),
		refusals:      counter("bailiwick_refusals_total", "Calls that were refused, by the true kind that the audit has.", "kind"),
		limits:        counter("bailiwick_limit_refusals_total", "Calls that limits refused, by which.", "kind"),
		kinds:         &few{most: 100, seen: map[string]bool{}},
		auditSeconds:  histogram("bailiwick_audit_append_duration_seconds", "How long the audit took to keep a record.", short).WithLabelValues().(prometheus.Histogram),
		auditFailures: counter("bailiwick_audit_append_failures_total", "Records that the audit could not keep. Their calls were not answered.").WithLabelValues(),
		responses:     counter("bailiwick_http_responses_total", "Answers over HTTP, by status: 401 counts bad credentials, 503 a full queue.", "status"),
		refused: counter("bailiwick_door_refusals_total", "Requests and connections that a door refused before they were calls, by door (mcp, api, console, oauth, metrics, http) and true kind.",
			"door", "kind"),
		reloads:     counter("bailiwick_reloads_total", "How often rules or sources were read again, by result: ok or failed.", "result"),
		reloadGood:  gauge("bailiwick_last_reload_successful", "1 when what was read last is in force, 0 when it was bad and the older stays."),
		reloadTime:  gauge("bailiwick_last_reload_timestamp_seconds", "When rules or sources were last read with success."),
		unsentSpans: counter("bailiwick_trace_spans_dropped_total", "Spans that could not be sent.").WithLabelValues(),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "bailiwick_build_info", Help: "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()}})
	build.Set(1)
	r.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r, m
}

// few limits the number of different values of a label. Without a limit, the number could grow without end.
type few struct {
	most int

	mu   sync.Mutex
	seen map[string]bool
}

// of returns word as the label, or "other" if there are already too many different values.
func (f *few) of(word string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[word] {
		return word
	}
	if len(f.seen) >= f.most {
		return "other"
	}
	f.seen[word] = true
	return word
}

package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A stand is an MCP server over a gateway with a source in memory and all telemetry enabled.
type stand struct {
	telemetry *telemetry.Telemetry
	spans     *tracetest.InMemoryExporter
	log       *bytes.Buffer
	url       string
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{spans: tracetest.NewInMemoryExporter(), log: &bytes.Buffer{}}
	log := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: telemetry.Errors}))
	var err error
	s.telemetry, err = telemetry.New(t.Context(), telemetry.Options{Version: "1.2.3", Logger: log, Calls: true, Traces: &telemetry.Traces{Exporter: kept{s.spans}, Sample: 1}})
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) schema.Field { return schema.Field{Name: name, Type: schema.String, NotNull: true} }
	notes := memory.New([]schema.Class{{Source: "app", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: []schema.Field{text("id"), text("text")}}},
		map[string][]value.Row{"notes": {{value.OfString("1"), value.OfString("a")}, {value.OfString("2"), value.OfString("b")}}})
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": notes}, Rules: policy.Rules{Unlisted: true, Version: "rules-1"},
		Audit: s.telemetry.Audit(&audit.Memory{}), Observer: s.telemetry.Calls(), Price: 3_000_000})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	door, err := mcp.New(mcp.Options{Tools: set, Logger: log, Observer: s.telemetry.Requests(), Metrics: s.telemetry.Metrics(),
		Authenticate: func(r *http.Request) (identity.Principal, error) {
			p := identity.Principal{ID: "agent", Owner: "ann", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}, Parent: "root", Depth: 1}
			if r.Header.Get("Authorization") == "Bearer auditor" {
				p = identity.Principal{ID: "auditor", Kind: identity.Human, Scopes: []identity.Scope{identity.Audit}}
			}
			return p, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	s.telemetry.Look(telemetry.Watch{Load: door.Load, Policy: g.PolicyVersion, Pools: map[string]source.Pooled{"app": pool{}}})
	h := httptest.NewServer(s.telemetry.CountResponses(door.Handler()))
	t.Cleanup(func() {
		door.Close()
		h.Close()
	})
	s.url = h.URL
	return s
}

// kept is an in-memory exporter that keeps its spans after shutdown.
type kept struct{ *tracetest.InMemoryExporter }

func (kept) Shutdown(context.Context) error { return nil }

type pool struct{}

func (pool) Pool() source.Pool { return source.Pool{Used: 1, Idle: 2, Most: 8} }

const traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// call sends a tools/call in the form of MCP 2026-07-28.
func (s *stand) call(t *testing.T, tool, arguments string) string {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"traceparent":"` + traceParent + `"}}}`
	return s.send(t, http.MethodPost, "/mcp", body, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: "+tool, "X-Mcp-Session-Id: conversation-1")
}

func (s *stand) send(t *testing.T, method, path, body string, headers ...string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		r.Header.Set(name, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSpans checks that a call is one trace, as a child of the client's span, and that each step is a span in it.
func TestSpans(t *testing.T) {
	s := newStand(t)
	s.call(t, "query_class", `{"class_name":"notes"}`)
	s.call(t, "count_objects", `{"class_name":"nothing"}`)
	s.call(t, "made-up by an agent", `{}`)
	if err := s.telemetry.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	type told struct {
		Name, Kind, Status, Under string
		Attributes                map[string]any
	}
	names := map[string]string{"00f067aa0ba902b7": "the client"}
	spans := s.spans.GetSpans()
	for _, sp := range spans {
		names[sp.SpanContext.SpanID().String()] = sp.Name
	}
	var got []told
	for _, sp := range spans {
		if trace := sp.SpanContext.TraceID().String(); trace != traceParent[3:35] {
			t.Errorf("%s is of trace %s", sp.Name, trace)
		}
		g := told{sp.Name, sp.SpanKind.String(), sp.Status.Description, names[sp.Parent.SpanID().String()], map[string]any{}}
		for _, a := range sp.Attributes {
			g.Attributes[string(a.Key)] = a.Value.AsInterface()
		}
		got = append(got, g)
	}
	door := func(outcome, tool string, more ...any) map[string]any {
		m := map[string]any{"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "network.transport": "tcp", "network.protocol.name": "http",
			"bailiwick.correlation_id": "conversation-1", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "bailiwick.principal": "agent",
			"bailiwick.owner": "ann", "bailiwick.policy": "rules-1", "bailiwick.outcome": outcome, "bailiwick.rows": int64(0), "bailiwick.result_bytes": int64(0),
			"bailiwick.parent": "root", "bailiwick.depth": int64(1)}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	none, notFound := map[string]any{}, map[string]any{"error.type": "not_found"}
	want := []told{
		{"policy", "internal", "", "tools/call query_class", none},
		{"shape", "internal", "", "tools/call query_class", none},
		{"audit", "internal", "", "tools/call query_class", none},
		{"tools/call query_class", "server", "", "the client", door("ok", "query_class", "bailiwick.rows", int64(2), "bailiwick.result_bytes", int64(112))},
		{"policy", "internal", "not_found", "tools/call count_objects", notFound},
		{"audit", "internal", "", "tools/call count_objects", none},
		{"tools/call count_objects", "server", "tool_error", "the client", door("refused", "count_objects", "error.type", "tool_error", "bailiwick.error_code", "not_found", "bailiwick.kind", "unknown_class")},
		{"audit", "internal", "", "tools/call (unknown)", none},
		{"tools/call (unknown)", "server", "-32602", "the client", door("refused", "(unknown)", "error.type", "-32602", "bailiwick.error_code", "unknown_tool", "bailiwick.kind", "unknown_tool")},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestLine checks that a call is logged as one line without values.
func TestLine(t *testing.T) {
	s := newStand(t)
	s.call(t, "query_class", `{"class_name":"notes","where":{"text":"a"}}`)
	s.call(t, "query_class", `{"class_name":"notes","where":{"colour":"swordfish"}}`)
	var got []map[string]any
	for line := range strings.Lines(s.log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m["msg"] == "call" {
			for _, changes := range []string{"time", "duration_ms", "span_id"} {
				if m[changes] == nil {
					t.Errorf("%s is missing: %s", changes, line)
				}
				delete(m, changes)
			}
			got = append(got, m)
		}
	}
	want := []map[string]any{
		{"level": "INFO", "msg": "call", "tool": "query_class", "outcome": "ok", "rows": 1.0, "result_bytes": 90.0, "est_input_tokens": 22.0, "est_cost_usd": 0.000066,
			"principal": "agent", "owner": "ann", "scopes": []any{"read"}, "parent": "root", "depth": 1.0, "correlation_id": "conversation-1", "policy": "rules-1", "trace_id": traceParent[3:35]},
		{"level": "INFO", "msg": "call", "tool": "query_class", "outcome": "refused", "rows": 0.0, "result_bytes": 0.0, "est_input_tokens": 0.0, "error_code": "invalid_query", "kind": "unknown_field",
			"principal": "agent", "owner": "ann", "scopes": []any{"read"}, "parent": "root", "depth": 1.0, "correlation_id": "conversation-1", "policy": "rules-1", "trace_id": traceParent[3:35]},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestFaultLines checks that Faults logs exactly the calls that did not succeed.
func TestFaultLines(t *testing.T) {
	var log bytes.Buffer
	tel, err := telemetry.New(t.Context(), telemetry.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil)), Faults: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, outcome := range []string{audit.OK, audit.Proposed, audit.Refused, audit.Failed, audit.Cancelled} {
		ctx := tel.Calls().Begin(t.Context(), identity.Principal{}, bailiwick.CallSpec{Tool: "t"})
		tel.Calls().End(ctx, identity.Principal{}, &audit.Record{Outcome: outcome}, nil)
	}
	if got := log.String(); strings.Count(got, `"msg":"call"`) != 3 || strings.Contains(got, `"outcome":"ok"`) || strings.Contains(got, `"outcome":"proposed"`) {
		t.Error(got)
	}
}

// TestMetrics checks that only auditors see metrics, and that calls are counted by tool, outcome and code.
func TestMetrics(t *testing.T) {
	s := newStand(t)
	s.call(t, "query_class", `{"class_name":"notes"}`)
	s.call(t, "count_objects", `{"class_name":"nothing"}`)
	s.call(t, "made-up by an agent", `{}`)
	s.telemetry.RecordReload(nil)
	s.telemetry.RecordReload(errors.New("bad"))
	if got := s.send(t, http.MethodGet, "/metrics", ""); !strings.Contains(got, "Insufficient scope") {
		t.Error("an agent is shown metrics: ", got)
	}
	got := s.send(t, http.MethodGet, "/metrics", "", "Authorization: Bearer auditor")
	for _, want := range []string{
		`bailiwick_calls_total{error_code="",outcome="ok",tool="query_class"} 1`,
		`bailiwick_calls_total{error_code="not_found",outcome="refused",tool="count_objects"} 1`,
		`bailiwick_calls_total{error_code="unknown_tool",outcome="refused",tool="(unknown)"} 1`,
		`bailiwick_call_rows_total{tool="query_class"} 2`,
		`bailiwick_call_result_bytes_total{tool="query_class"} 112`,
		`bailiwick_call_est_input_tokens_total{tool="query_class"} 28`,
		`bailiwick_call_est_cost_usd_total{tool="query_class"} 8.4e-05`,
		`bailiwick_refusals_total{kind="unknown_class"} 1`,
		`bailiwick_refusals_total{kind="unknown_tool"} 1`,
		`bailiwick_calls_running 0`,
		`bailiwick_audit_append_duration_seconds_count 3`,
		`bailiwick_policy_info{version="rules-1"} 1`,
		`bailiwick_door_requests_waiting 0`,
		`bailiwick_door_sessions 0`,
		`bailiwick_source_connections{source="app",state="idle"} 2`,
		`bailiwick_source_connections_max{source="app"} 8`,
		`bailiwick_last_reload_successful 0`,
		`bailiwick_reloads_total{result="failed"} 1`,
		`bailiwick_http_responses_total{status="200"} 2`,
		`bailiwick_http_responses_total{status="403"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="",gen_ai_tool_name="query_class",mcp_method_name="tools/call",mcp_protocol_version="2026-07-28",network_transport="tcp"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="tool_error",gen_ai_tool_name="count_objects",mcp_method_name="tools/call",mcp_protocol_version="2026-07-28",network_transport="tcp"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="-32602",gen_ai_tool_name="(unknown)",mcp_method_name="tools/call",mcp_protocol_version="2026-07-28",network_transport="tcp"} 1`,
		`bailiwick_build_info{go_version="go1`,
		`go_goroutines `, `process_open_fds `,
	} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("no %s in\n%s", want, strings.Join(slices.Collect(func(yield func(string) bool) {
				for line := range strings.Lines(got) {
					if strings.HasPrefix(line, want[:min(16, len(want))]) && !yield(line) {
						return
					}
				}
			}), ""))
		}
	}
	if strings.Contains(got, "made-up") {
		t.Error("a name that an agent made up is a label")
	}
}

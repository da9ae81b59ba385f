package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/source"
)

// A Metric describes a metric for the documentation.
type Metric struct {
	Name   string
	Type   string // counter, gauge or histogram
	Help   string
	Labels []string
}

// AllMetrics returns this package's metrics, sorted by name. It omits the metrics of Go and of the process.
func AllMetrics() ([]Metric, error) {
	r, m := newMetrics("")
	m.touch()
	r.MustRegister(&gauges{Watch{Load: func() wire.Load { return wire.Load{} }, Policy: func() string { return "" }, Closed: func() int { return 0 }, Withheld: func() int { return 0 }, Replicas: func() health.ReplicaState { return health.ReplicaState{} }, Pools: map[string]source.Pooled{"": full{}}}})
	q := newQueue(oneChange{}, []string{""})
	q.decisionTimes.WithLabelValues("", "")
	q.applyTimes.WithLabelValues("", "")
	r.MustRegister(q)
	families, err := r.Gather()
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	var out []Metric
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "bailiwick_") && !strings.HasPrefix(f.GetName(), "mcp_") {
			continue
		}
		one := Metric{Name: f.GetName(), Type: strings.ToLower(f.GetType().String()), Help: f.GetHelp()}
		for _, l := range f.GetMetric()[0].GetLabel() {
			one.Labels = append(one.Labels, l.GetName())
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// touch makes each metric with labels appear once.
func (m *metrics) touch() {
	m.operations.WithLabelValues("", "", "", "", "")
	m.calls.WithLabelValues("", "", "")
	m.durations.WithLabelValues("")
	m.refused.WithLabelValues("", "")
	for _, v := range []*prometheus.CounterVec{m.rows, m.bytes, m.tokens, m.cost, m.refusals, m.limits, m.responses, m.reloads} {
		v.WithLabelValues("")
	}
}

// oneChange is a queue with one waiting change.
type oneChange struct{}

// Waiting implements QueueReader.
func (oneChange) Waiting(context.Context) ([]WaitingChanges, time.Time, error) {
	return []WaitingChanges{{Changes: 1, Oldest: time.Now()}}, time.Now(), nil
}

// LastStep implements QueueReader.
func (oneChange) LastStep(context.Context) (int64, error) { return 0, nil }

// Steps implements QueueReader.
func (oneChange) Steps(context.Context, int64) ([]ChangeStep, int64, bool, error) {
	return nil, 0, false, nil
}

// full is a pool for which all metrics are reported.
type full struct{}

// Pool implements source.Pooled.
func (full) Pool() source.Pool { return source.Pool{Most: 1} }

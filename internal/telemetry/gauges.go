package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/source"
)

// A Watch contains functions that are called when metrics are requested. Nil fields are not reported.
type Watch struct {
	Load   func() wire.Load // the load of the MCP transport
	Policy func() string    // the version of the rules in force
	Pools  map[string]source.Pooled
	Closed func() int // number of classes, actions and sources that don't fit their description

	Withheld func() int                 // number of fields that are hidden because of their values
	Replicas func() health.ReplicaState // how the processes that share the store differ

	Changes QueueReader // the changes that agents propose to Sources
	Sources []string    // the names of all sources
}

// Look makes t report w. It must be called at most once.
func (t *Telemetry) Look(w Watch) {
	t.registry.MustRegister(&gauges{w})
	if w.Changes != nil {
		t.registry.MustRegister(newQueue(w.Changes, w.Sources))
	}
}

// gauges is a prometheus.Collector of values that other packages store.
type gauges struct{ w Watch }

var (
	policyInfo  = prometheus.NewDesc("bailiwick_policy_info", "1, with the version of the rules in force.", []string{"version"}, nil)
	closedInfo  = prometheus.NewDesc("bailiwick_classes_closed", "Classes and actions that are closed because their source has changed, and sources that can't be described.", nil, nil)
	withheld    = prometheus.NewDesc("bailiwick_fields_withheld", "Fields that are hidden because their values look like credentials.", nil, nil)
	replicaInfo = prometheus.NewDesc("bailiwick_replicas", "Processes that share the store, with this one. 0 if they aren't known.", nil, nil)
	replicaDiff = prometheus.NewDesc("bailiwick_replicas_differ", "Other processes that share the store and differ from this one, by kind: rules, audit_key, program, clock.", []string{"kind"}, nil)
	storeClock  = prometheus.NewDesc("bailiwick_store_clock_difference_seconds", "By how much the clock of this process is ahead of the clock of the store.", nil, nil)
	doorRunning = prometheus.NewDesc("bailiwick_door_requests_running", "Calls that the MCP door has let in.", nil, nil)
	doorWaiting = prometheus.NewDesc("bailiwick_door_requests_waiting", "Calls that wait for their turn at the MCP door.", nil, nil)
	doorStreams = prometheus.NewDesc("bailiwick_door_streams", "Event streams that stay open.", nil, nil)
	doorSession = prometheus.NewDesc("bailiwick_door_sessions", "Sessions of the protocols before 2026-07-28.", nil, nil)
	poolConns   = prometheus.NewDesc("bailiwick_source_connections", "Connections to a source, by state: used or idle.", []string{"source", "state"}, nil)
	poolMost    = prometheus.NewDesc("bailiwick_source_connections_max", "Most connections to a source.", []string{"source"}, nil)
	poolWaits   = prometheus.NewDesc("bailiwick_source_connection_waits_total", "How often a statement waited for a connection.", []string{"source"}, nil)
	poolWaited  = prometheus.NewDesc("bailiwick_source_connection_wait_seconds_total", "How long statements waited for a connection.", []string{"source"}, nil)
)

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{policyInfo, closedInfo, withheld, replicaInfo, replicaDiff, storeClock, doorRunning, doorWaiting, doorStreams, doorSession, poolConns, poolMost, poolWaits, poolWaited} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if g.w.Policy != nil {
		tell(policyInfo, 1, g.w.Policy())
	}
	if g.w.Closed != nil {
		tell(closedInfo, float64(g.w.Closed()))
	}
	if g.w.Withheld != nil {
		tell(withheld, float64(g.w.Withheld()))
	}
	if g.w.Replicas != nil {
		s := g.w.Replicas()
		tell(replicaInfo, float64(s.Replicas))
		for _, kind := range health.DifferenceKinds() {
			tell(replicaDiff, float64(s.Kinds[kind]), string(kind))
		}
		tell(storeClock, s.Clock.Seconds())
	}
	if g.w.Load != nil {
		l := g.w.Load()
		tell(doorRunning, float64(l.Running))
		tell(doorWaiting, float64(l.Waiting))
		tell(doorStreams, float64(l.Streams))
		tell(doorSession, float64(l.Sessions))
	}
	for name, s := range g.w.Pools {
		p := s.Pool()
		tell(poolConns, float64(p.Used), name, "used")
		tell(poolConns, float64(p.Idle), name, "idle")
		if p.Most > 0 {
			tell(poolMost, float64(p.Most), name)
		}
		out <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(p.Waits), name)
		out <- prometheus.MustNewConstMetric(poolWaited, prometheus.CounterValue, p.Waited.Seconds(), name)
	}
}

// RecordReload records a reload of rules or sources. It was successful if err is nil.
func (t *Telemetry) RecordReload(err error) {
	if err != nil {
		t.metrics.reloads.WithLabelValues("failed").Inc()
		t.metrics.reloadGood.Set(0)
		return
	}
	t.metrics.reloads.WithLabelValues("ok").Inc()
	t.metrics.reloadGood.Set(1)
	t.metrics.reloadTime.Set(float64(time.Now().UnixMilli()) / 1e3)
}

// CountRefusal counts a request or connection that a transport refused, by the true kind. The program defines the
// names of kinds.
func (t *Telemetry) CountRefusal(door, kind string) {
	t.metrics.refused.WithLabelValues(door, kind).Inc()
}

// Metrics returns a handler that serves the metrics in the formats of Prometheus. It doesn't authenticate callers.
func (t *Telemetry) Metrics() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 4, ErrorHandling: promhttp.HTTPErrorOnError})
}

// CountResponses returns a handler that serves h and counts the responses by status.
func (t *Telemetry) CountResponses(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &counted{ResponseWriter: w, m: t.metrics}
		h.ServeHTTP(c, r)
		c.count(http.StatusOK)
	})
}

// counted is a ResponseWriter that counts its response once.
type counted struct {
	http.ResponseWriter
	m    *metrics
	done bool
}

func (c *counted) count(status int) {
	if !c.done && status >= 200 {
		c.done = true
		c.m.responses.WithLabelValues(strconv.Itoa(status)).Inc()
	}
}

// WriteHeader implements http.ResponseWriter.
func (c *counted) WriteHeader(status int) {
	c.count(status)
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *counted) Write(b []byte) (int, error) {
	c.count(http.StatusOK)
	return c.ResponseWriter.Write(b)
}

// Unwrap allows http.ResponseController to flush and set deadlines.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

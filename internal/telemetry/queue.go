package telemetry

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A QueueReader reads the changes that agents propose.
type QueueReader interface {
	// Waiting returns the waiting changes by source and risk, and the time to which their ages refer.
	Waiting(ctx context.Context) (all []WaitingChanges, now time.Time, err error)
	// LastStep returns the number of the last step of a change, or 0.
	LastStep(ctx context.Context) (int64, error)
	// Steps returns the next steps after one, the number of the last step that it has read, and whether there may be
	// more.
	Steps(ctx context.Context, after int64) (steps []ChangeStep, to int64, more bool, err error)
}

// WaitingChanges are the waiting changes of one source and risk.
type WaitingChanges struct {
	Source, Risk string
	Changes      int
	Oldest       time.Time // when the oldest was proposed, or zero if that is not known
}

// A ChangeStep is a decision about a change, or an outcome.
type ChangeStep struct {
	Source, Risk string
	Decision     string        // one of Decisions, or ""
	Outcome      string        // one of Outcomes, or ""
	Waited       time.Duration // until the decision, or negative if it isn't the last one that was needed
	Applied      time.Duration // from the approval until it was applied, or negative if that is not known
}

// Decisions returns the kinds of decisions.
func Decisions() []string {
	return []string{"approved", "approved_by_one", "rejected", "changes_requested"}
}

// Outcomes returns the kinds of outcomes.
func Outcomes() []string {
	return []string{"applied", "failed", "stale", "unknown", "expired", "cancelled"}
}

// Limits of the reads of one scrape.
const (
	queueTime   = 2 * time.Second // for all reads
	waitingLife = 5 * time.Second // how long the numbers of waiting changes are reused
)

// other replaces sources and risks that aren't configured.
const other = "other"

var (
	waitingCount = prometheus.NewDesc("bailiwick_changes_waiting", "Changes in the store that wait for approval, by source and risk (low, medium, high). Each process that shares the store reports all of them.", []string{"source", "risk"}, nil)
	waitingAge   = prometheus.NewDesc("bailiwick_changes_waiting_oldest_age_seconds", "How long ago the oldest of the waiting changes was proposed. Without a waiting change there is none.", []string{"source", "risk"}, nil)
)

// queue is a prometheus.Collector of the changes in a store. It reads the store when metrics are requested, so it
// includes what other processes do. It omits what it can't read.
type queue struct {
	reader  QueueReader
	sources []string

	decided, ended            *prometheus.CounterVec
	decisionTimes, applyTimes *prometheus.HistogramVec

	mu      sync.Mutex
	begun   bool
	after   int64 // the last event that is counted
	waiting []WaitingChanges
	now     time.Time // of the store when waiting was read
	read    time.Time // when waiting was read, or zero
	failed  bool      // that read
}

// newQueue returns the collector for the changes in s. It counts the events from now on, of all processes that share
// the store.
func newQueue(r QueueReader, sources []string) *queue {
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"source", "risk", label})
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"source", "risk"})
	}
	const minute, hour, day = 60, 3600, 86400
	q := &queue{reader: r, sources: sources,
		decided: counter("bailiwick_changes_decided_total", "Decisions of people about changes (approved, approved_by_one of several, rejected, changes_requested), by any process that shares the store, since this one began.", "decision"),
		ended: counter("bailiwick_changes_outcomes_total", "Outcomes of changes (applied, failed, stale, unknown, expired, cancelled), by any process that shares the store, since this one began. A change can be unknown or stale first, and have another outcome later.",
			"outcome"),
		decisionTimes: histogram("bailiwick_change_decision_duration_seconds", "How long changes waited for a decision, from when they last began to wait until they were approved, rejected or returned.",
			[]float64{10, 30, minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour, day, 2 * day, 4 * day, 7 * day}),
		applyTimes: histogram("bailiwick_change_apply_duration_seconds", "How long it took to apply changes, from the approval until they were applied. It includes the wait for other changes.",
			append(slices.Clone(seconds), 15*minute, hour, 4*hour, day)),
	}
	for _, source := range sources {
		for _, risk := range risks() {
			for _, word := range Decisions() {
				q.decided.WithLabelValues(source, risk, word)
			}
			for _, word := range Outcomes() {
				q.ended.WithLabelValues(source, risk, word)
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), queueTime)
	defer cancel()
	q.begin(ctx) // otherwise the first scrape begins
	return q
}

func risks() []string { return []string{"low", "medium", "high"} }

// begin reads where the events begin that q counts.
func (q *queue) begin(ctx context.Context) error {
	last, err := q.reader.LastStep(ctx)
	if err == nil {
		q.begun, q.after = true, last
	}
	return err
}

// counted returns the metrics that count events.
func (q *queue) counted() []prometheus.Collector {
	return []prometheus.Collector{q.decided, q.ended, q.decisionTimes, q.applyTimes}
}

// Describe implements prometheus.Collector.
func (q *queue) Describe(out chan<- *prometheus.Desc) {
	out <- waitingCount
	out <- waitingAge
	for _, c := range q.counted() {
		c.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (q *queue) Collect(out chan<- prometheus.Metric) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), queueTime)
	defer cancel()
	if time.Since(q.read) >= waitingLife {
		q.failed = q.readWaiting(ctx) != nil
		q.read = time.Now()
	}
	if !q.failed {
		q.collectWaiting(out)
	}
	if q.follow(ctx) != nil {
		return // the numbers would be too low
	}
	for _, c := range q.counted() {
		c.Collect(out)
	}
}

// readWaiting reads the numbers of waiting changes.
func (q *queue) readWaiting(ctx context.Context) (err error) {
	q.waiting, q.now, err = q.reader.Waiting(ctx)
	return err
}

// place returns the labels of a source and a risk.
func (q *queue) place(source, risk string) [2]string {
	if !slices.Contains(q.sources, source) {
		source = other
	}
	if !slices.Contains(risks(), risk) {
		risk = other
	}
	return [2]string{source, risk}
}

// collectWaiting reports the waiting changes of each source and risk, also if there are none.
func (q *queue) collectWaiting(out chan<- prometheus.Metric) {
	numbers, oldest := map[[2]string]int{}, map[[2]string]time.Time{}
	for _, source := range q.sources {
		for _, risk := range risks() {
			numbers[[2]string{source, risk}] = 0
		}
	}
	for _, w := range q.waiting {
		at := q.place(w.Source, w.Risk)
		numbers[at] += w.Changes
		if known, ok := oldest[at]; !w.Oldest.IsZero() && (!ok || w.Oldest.Before(known)) {
			oldest[at] = w.Oldest
		}
	}
	for at, n := range numbers {
		out <- prometheus.MustNewConstMetric(waitingCount, prometheus.GaugeValue, float64(n), at[:]...)
	}
	now := q.now.Add(time.Since(q.read))
	for at, since := range oldest {
		out <- prometheus.MustNewConstMetric(waitingAge, prometheus.GaugeValue, max(0, now.Sub(since).Seconds()), at[:]...)
	}
}

// follow counts the steps that are new in the store.
func (q *queue) follow(ctx context.Context) error {
	if !q.begun {
		return q.begin(ctx)
	}
	for {
		steps, to, more, err := q.reader.Steps(ctx, q.after)
		if err != nil {
			return err
		}
		for _, s := range steps {
			q.count(s)
		}
		if q.after = to; !more {
			return nil
		}
	}
}

// count counts a step.
func (q *queue) count(s ChangeStep) {
	at := q.place(s.Source, s.Risk)
	if s.Decision != "" {
		q.decided.WithLabelValues(at[0], at[1], s.Decision).Inc()
		if s.Waited >= 0 {
			q.decisionTimes.WithLabelValues(at[:]...).Observe(s.Waited.Seconds())
		}
	}
	if s.Outcome != "" {
		q.ended.WithLabelValues(at[0], at[1], s.Outcome).Inc()
		if s.Applied >= 0 {
			q.applyTimes.WithLabelValues(at[:]...).Observe(s.Applied.Seconds())
		}
	}
}

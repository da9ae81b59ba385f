package telemetry

import (
	"context"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
)

// A shelf is a queue that can't be read at times.
type shelf struct {
	waiting     []WaitingChanges
	steps       []ChangeStep
	noW, noS    bool
	now, oldest time.Time
}

var errGone = errors.New("the store is gone")

func (s *shelf) Waiting(context.Context) ([]WaitingChanges, time.Time, error) {
	if s.noW {
		return s.waiting, s.now, errGone
	}
	return s.waiting, s.now, nil
}

func (s *shelf) LastStep(context.Context) (int64, error) { return int64(len(s.steps)), nil }

// Steps returns three steps at once.
func (s *shelf) Steps(_ context.Context, after int64) ([]ChangeStep, int64, bool, error) {
	if s.noS {
		return nil, after, false, errGone
	}
	to := min(after+3, int64(len(s.steps)))
	return s.steps[after:to], to, to-after == 3, nil
}

// figures returns the names and labels of the metrics of q, with their values.
func figures(t *testing.T, q *queue) map[string]float64 {
	t.Helper()
	q.read = time.Time{} // not the numbers of the last look
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(q)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			v := m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			out[strings.TrimPrefix(f.GetName(), "bailiwick_")+" "+strings.Join(labels, " ")] = v
		}
	}
	return out
}

// TestQueueIsReadOrAbsent checks that metrics of the queue are absent while the store can't be read, and complete
// afterwards. Sources and risks that aren't configured share one label.
func TestQueueIsReadOrAbsent(t *testing.T) {
	s := &shelf{now: time.Now(), steps: make([]ChangeStep, 5)} // five steps from before
	s.oldest = s.now.Add(-time.Hour)
	q := newQueue(s, []string{"app"})
	none := figures(t, q)
	if len(none) != 3+3*len(Decisions())+3*len(Outcomes()) || slices.Max(slices.Collect(maps.Values(none))) != 0 {
		t.Error("an empty store:", none)
	}
	waiting, counted := map[string]float64{}, map[string]float64{}
	for i, at := range [][2]string{{"app", "high"}, {"removed", "high"}, {"gone", "high"}, {"app", "dire"}, {"app", "worse"}, {"gone", "worse"}} {
		s.waiting = append(s.waiting, WaitingChanges{Source: at[0], Risk: at[1], Changes: 10, Oldest: s.oldest.Add(time.Duration(i) * time.Minute)})
		s.steps = append(s.steps, ChangeStep{Source: at[0], Risk: at[1], Decision: "rejected", Waited: time.Minute, Applied: -1},
			ChangeStep{Source: at[0], Risk: at[1], Decision: "approved_by_one", Waited: -1, Applied: -1}, ChangeStep{Source: at[0], Risk: at[1], Outcome: "applied", Waited: -1, Applied: time.Second})
	}
	for labels, n := range map[string]float64{"high app": 1, "high other": 2, "other app": 2, "other other": 1} {
		waiting["changes_waiting "+labels] = 10 * n
		for _, name := range []string{"changes_decided_total rejected ", "changes_decided_total approved_by_one ", "changes_outcomes_total applied ", "change_decision_duration_seconds ", "change_apply_duration_seconds "} {
			counted[name+labels] = n
		}
	}
	for labels, minutes := range map[string]float64{"high app": 60, "high other": 59, "other app": 57, "other other": 55} {
		waiting["changes_waiting_oldest_age_seconds "+labels] = 60 * minutes
	}
	for _, tt := range []struct {
		name     string
		noW, noS bool // what can't be read
	}{{"nothing", true, true}, {"no numbers", true, false}, {"no steps", false, true}, {"all", false, false}} {
		s.noW, s.noS = tt.noW, tt.noS
		got, want := figures(t, q), map[string]float64{}
		if !tt.noW {
			maps.Copy(want, waiting)
		}
		if !tt.noS {
			maps.Copy(want, counted)
		}
		for name := range got {
			if of := strings.HasPrefix(name, "changes_waiting"); of && tt.noW || !of && tt.noS {
				t.Errorf("%s: there is %s", tt.name, name)
			}
			if got[name] == 0 {
				delete(got, name)
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 5)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

// TestAlerts checks the rules for Prometheus in the documentation: the metrics, labels and values that they name exist.
func TestAlerts(t *testing.T) {
	page, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\ngroups:")
	text, _, _ = strings.Cut("groups:"+text, "```")
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil || len(file.Groups) != 1 {
		t.Fatal(text, err)
	}
	all, err := AllMetrics()
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(Decisions(), Outcomes())
	metric, by := regexp.MustCompile(`bailiwick_\w+`), regexp.MustCompile(`by \(([^)]*)\)|\{(\w+)=~?"([^"]*)"\}|\$labels\.(\w+)`)
	var alerts []string
	for _, r := range file.Groups[0].Rules {
		alerts = append(alerts, r.Alert)
		labels := []string{"instance"} // Prometheus sets it
		for _, name := range metric.FindAllString(r.Expr, -1) {
			i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name })
			if i < 0 {
				t.Errorf("%s: there is no metric %s", r.Alert, name)
				continue
			}
			labels = append(labels, all[i].Labels...)
		}
		for _, found := range by.FindAllStringSubmatch(r.Expr+r.Annotations["summary"], -1) {
			for label := range strings.SplitSeq(found[1]+found[2]+found[4], ", ") {
				if !slices.Contains(labels, label) {
					t.Errorf("%s: no metric of the rule has the label %s", r.Alert, label)
				}
			}
			for value := range strings.SplitSeq(found[3], "|") {
				if value != "" && !slices.Contains(words, value) {
					t.Errorf("%s: no label has the value %s", r.Alert, value)
				}
			}
		}
	}
	if want := []string{"NobodyDecides", "ChangesFail"}; !slices.Equal(alerts, want) {
		t.Errorf("the page has the rules %q, want %q", alerts, want)
	}
}

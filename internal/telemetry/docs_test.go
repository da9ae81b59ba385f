package telemetry_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
)

// TestDashboard checks that each metric and label in the dashboard exists, and that the dashboard contains every
// metric.
func TestDashboard(t *testing.T) {
	raw, err := os.ReadFile("../../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(raw, &board); err != nil || len(board.Panels) < 10 {
		t.Fatal(err, len(board.Panels))
	}
	described, err := telemetry.AllMetrics()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{}
	for _, m := range described {
		labels[m.Name] = m.Labels
		if m.Help == "" {
			t.Errorf("%s has no help", m.Name)
		}
	}
	name, label := regexp.MustCompile(`\b(?:bailiwick|mcp)_[a-z_]+[a-z]\b`), regexp.MustCompile(`\{\{(\w+)\}\}`)
	shown := map[string]bool{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			of := ""
			for _, found := range name.FindAllString(target.Expr, -1) {
				if found == "mcp_method_name" {
					continue // a label
				}
				of = strings.TrimSuffix(found, "_bucket")
				if _, ok := labels[of]; !ok {
					t.Errorf("%s: there is no metric %s", p.Title, of)
				}
				shown[of] = true
			}
			for _, l := range label.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !slices.Contains(labels[of], l[1]) {
					t.Errorf("%s: %s has no label %s", p.Title, of, l[1])
				}
			}
		}
	}
	checkPages(t, labels)
	for m := range labels {
		if !shown[m] {
			t.Errorf("the dashboard doesn't show %s", m)
		}
	}
}

// checkPages checks that the metrics that pages of the documentation name exist.
func checkPages(t *testing.T, metrics map[string][]string) {
	t.Helper()
	named := 0
	name := regexp.MustCompile(`\b(?:bailiwick|mcp_server)_[a-z_]+[a-z]\b`)
	err := filepath.WalkDir("../../docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		page, err := os.ReadFile(path)
		for _, found := range name.FindAllString(string(page), -1) {
			if found == "bailiwick_applied" {
				continue // a table in databases
			}
			named++
			if _, ok := metrics[found]; !ok {
				t.Errorf("%s: there is no metric %s", path, found)
			}
		}
		return err
	})
	if err != nil || named <= len(metrics) {
		t.Error(named, "names of metrics in the documentation", err)
	}
}

package memory_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/value"
)

func target() pipelines.Target {
	return pipelines.Target{
		Open: func(t *testing.T, d sourcetest.Dataset) source.Source {
			classes := d.Classes("memory")
			return memory.New(classes, d.Rows(t, classes))
		},
		Oracle: func(classes []schema.Class, rows map[string][]value.Row) source.Source {
			return memory.New(classes, rows)
		},
		Show: func(policy.Permit) string { return "" },
	}
}

func TestPipelines(t *testing.T) {
	pipelines.Run(t, target())
}

// TestPipelinesHold tests laws that the oracle must satisfy, without comparing it to another source.
func TestPipelinesHold(t *testing.T) {
	pipelines.Differential(t, target())
}

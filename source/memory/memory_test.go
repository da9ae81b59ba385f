package memory_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/ending"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/large"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/masks"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/pipelines"
)

func open(t *testing.T, d sourcetest.Dataset) source.Source {
	classes := d.Classes("memory")
	return memory.New(classes, d.Rows(t, classes))
}

func TestMemory(t *testing.T) { sourcetest.Run(t, open, nil) }

func TestMemoryEnding(t *testing.T) { ending.Run(t, open) }

func TestMemoryLarge(t *testing.T) {
	large.Run(t, open)
	large.Lists(t, open)
}

func TestMemoryMasks(t *testing.T) { masks.Run(t, open, nil) }

func TestMemoryPipelines(t *testing.T) { pipelines.Run(t, pipelines.Target{Open: open}) }

package memory_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/sourcetest"
)

func TestMemory(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T, d sourcetest.Dataset) source.Source {
		classes := d.Classes("memory")
		return memory.New(classes, d.Rows(t, classes))
	}, nil)
}

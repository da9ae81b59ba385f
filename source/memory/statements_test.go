package memory_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/statements"
)

func TestStatements(t *testing.T) { statements.Run(t, open, nil) }

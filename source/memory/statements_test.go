package memory_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/sourcetest/statements"
)

func TestStatements(t *testing.T) { statements.Run(t, open, nil) }

// TestForms asks for forms as models write them.
func TestForms(t *testing.T) { statements.Forms(t, open) }

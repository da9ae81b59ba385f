package memory_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/sourcetest/statements"
)

func TestStatements(t *testing.T) { statements.Run(t, open, nil) }

// TestForms runs statements in the forms that models write.
func TestForms(t *testing.T) { statements.Forms(t, open) }

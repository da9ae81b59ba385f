package endtoend

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/measures"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/questions"
)

// TestQuestions asks typical questions about a shop and a tracker through the tools. Every database must give the
// same correct answers.
func TestQuestions(t *testing.T) {
	for _, on := range []struct {
		name string
		open func(*testing.T, sourcetest.Dataset) source.Source
	}{
		{"SQLite", openSQLiteShop}, {"PostgreSQL", openPostgresShop}, {"MariaDB", openMariaDBShop}, {"memory", openMemoryShop},
	} {
		t.Run(on.name, func(t *testing.T) { questions.Run(t, on.name, on.open(t, questions.Shop(t)), nil) })
	}
}

// TestMeasures asks questions about metrics of the shop. Every database must give the same answers as the SELECT beside
// each question.
func TestMeasures(t *testing.T) {
	for _, on := range []struct {
		name string
		open func(*testing.T, sourcetest.Dataset) source.Source
	}{
		{"SQLite", openSQLiteShop}, {"PostgreSQL", openPostgresShop}, {"MariaDB", openMariaDBShop}, {"memory", openMemoryShop},
	} {
		t.Run(on.name, func(t *testing.T) { measures.Run(t, on.open(t, questions.Shop(t))) })
	}
}

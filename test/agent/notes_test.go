package agent

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
)

// kinds are the kinds of notes, by words that only they have.
var kinds = map[string][]string{
	"ties":   {" more records have the same ", " more record has the same "},
	"nulls":  {" leaves out ", ": it also finds "},
	"fanout": {" as often as the join repeats it: "},
	"few":    {" only", " is over fewer than "},
	"case":   {"letter by letter", "of another case"},
}

// kindsIn returns the kinds of the notes in the text of an answer.
func kindsIn(text string) []string {
	var out []string
	for kind, words := range kinds {
		if slices.ContainsFunc(words, func(w string) bool {
			return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
				return strings.Contains(line, w) && (kind != "few" || strings.Contains(line, " is over "))
			})
		}) {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return out
}

// TestNotes measures the notes over calls for which the helpful notes are known. It measures how many of the notes are
// right, and how many of the helpful ones are given.
func TestNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	tables, err := os.ReadFile("testdata/notes.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(tables)); err != nil {
		t.Fatal(err)
	}
	db.Close()
	set, _ := served(t, "shop", path, policy.Rules{Unlisted: true})
	lines, err := os.ReadFile("testdata/notes.txt")
	if err != nil {
		t.Fatal(err)
	}
	calls, exact, right, wrong, missing := 0, 0, 0, 0, 0
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		expected, call, _ := strings.Cut(line, ": ")
		want := strings.Fields(strings.Replace(expected, "none", "", 1))
		res, err := set.Call(t.Context(), reader(), request(t, call))
		if err != nil {
			t.Errorf("%s\n%s", call, helps(err))
			continue
		}
		got := kindsIn(res.Text)
		calls++
		if slices.Equal(got, want) {
			exact++
		} else {
			t.Logf("%s\nhas the notes %v, want %v", call, got, want)
		}
		for _, k := range got {
			if slices.Contains(want, k) {
				right++
			} else {
				wrong++
			}
		}
		for _, k := range want {
			if !slices.Contains(got, k) {
				missing++
			}
		}
	}
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missing)
	t.Logf("%d calls, %d have exactly the notes that help; of the notes %.1f %% are right, and %.1f %% of those that help are there", calls, exact, 100*precision, 100*recall)
	if calls < 300 || exact*10 < 9*calls || precision < 0.9 || recall < 0.9 {
		t.Errorf("want 300 calls, and 90 %% of each")
	}
}

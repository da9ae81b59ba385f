package response

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// separators returns the characters that may separate the columns of a table in text, or "" for other media types.
func separators(media string) string {
	switch media {
	case "text/csv", "application/csv", "text/x-csv", "text/comma-separated-values":
		return ",;\t|"
	case "text/tab-separated-values", "text/tsv":
		return "\t"
	}
	return ""
}

// table masks the columns of a table whose names are those of credentials, as in JSON. A table without such a column
// is returned unchanged. A text that can't be parsed as a table is refused, because its columns are unknown.
func (w *walker) table(media, text string) (string, error) {
	from := separators(media)
	if from == "" {
		return text, nil
	}
	first, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	separator := ','
	for _, c := range from {
		if separator = c; strings.ContainsRune(first, c) {
			break
		}
	}
	in := csv.NewReader(strings.NewReader(text))
	in.Comma, in.FieldsPerRecord, in.LazyQuotes = separator, -1, true
	header, err := in.Read()
	if err != nil {
		return text, nil
	}
	masked := make([]bool, len(header))
	for i, name := range header {
		masked[i] = w.mark(strings.TrimSpace(name)).cover != open
	}
	if !slices.Contains(masked, true) {
		return text, nil
	}
	var out strings.Builder
	to := csv.NewWriter(&out)
	to.Comma = separator
	row := header
	for ; err == nil; row, err = in.Read() {
		for i, cell := range row {
			if first := &row[0] == &header[0]; !first && cell != "" && (i >= len(masked) || masked[i]) {
				row[i] = Masked
			}
		}
		if err := to.Write(row); err != nil {
			return "", err
		}
	}
	if !errors.Is(err, io.EOF) {
		return "", &problem.Error{Code: problem.SecurityBlocked, Kind: "unfiltered_answer", Suggestion: "ask for JSON, if the operation has a parameter for that",
			Detail: "the API answered with a table that has columns of credentials and can't be read as one"}
	}
	to.Flush()
	return out.String(), to.Error()
}

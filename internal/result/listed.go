package result

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// listedMost is the maximum number of records to which the lists of one column are followed.
const listedMost = 1000

// A ReadPage answers a query for the principal of the page.
type ReadPage func(*query.Find) (*Page, error)

// Embed replaces the keys in the lists of pointers of a page by the records to which they lead. A key stays if read
// doesn't find its record, or if the budget of the page is used up. Embed returns the number of records read, and notes
// about omitted records. It also adds these notes to the page.
func Embed(page *Page, read ReadPage) (records int, notes []string, err error) {
	for _, l := range page.Lists {
		keys := page.ListValues(l.Column)
		if len(keys) == 0 {
			continue
		}
		found, n, err := behind(l, keys[:min(len(keys), listedMost)], read)
		if err != nil {
			return 0, nil, err
		}
		records += n
		left := page.Embed(l.Column, found)
		if len(keys) > listedMost {
			notes = append(notes, fmt.Sprintf("%s: the lists name %d records in all, and the first %d are looked up: ask for fewer records", l.Path, len(keys), listedMost))
		}
		if left > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d of the records that it leads to don't fit in the answer and are ids: name fewer fields of them in keys, as in %[1]s.%[3]s, or ask for fewer records",
				l.Path, left, l.Key))
		}
	}
	page.Notes = append(page.Notes, notes...)
	return records, notes, nil
}

// behind returns the records behind a list of pointers, by the text of their keys. keys are the keys to read. It also
// returns the number of records read.
func behind(l policy.List, keys []value.Value, read ReadPage) (map[string]value.Value, int, error) {
	page, err := read(&query.Find{Class: l.Class, Where: query.In{Path: query.Path{l.Key}, Values: keys}, Keys: l.Keys, Include: l.Include, Limit: len(keys), Raw: l.Raw})
	if err != nil {
		return nil, 0, err
	}
	n, _, err := Embed(page, read)
	if err != nil {
		return nil, 0, err
	}
	out := make(map[string]value.Value, page.Count)
	for i := range page.Count {
		record, err := value.Read(page.Record(i), 4*value.MaxDepth)
		if err != nil {
			return nil, 0, err
		}
		key, _ := record.Get(l.Key)
		out[key.String()] = record
	}
	return out, n + page.Count, nil
}

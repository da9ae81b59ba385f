package review

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// pageSize is the number of characters on a page of a Whole.
const pageSize = 50_000

// A Place identifies a long field of a sheet and the part to open. Item and Field count from 0, as in Sheet.Items.
type Place struct {
	Item, Field int
	Page        int    // from 1. 0 also means the first page
	Side        string // "before" or "after" for the exact value on this side, or "" for a page of their difference
	Digest      string // of the change that the viewer saw, or "" for any version
}

// A Whole is one page of a field whose values a sheet shows only in part. It contains the uncut values and their
// difference.
type Whole struct {
	Change string `json:"change_id"`
	Digest string `json:"digest"`
	Title  string `json:"title"`
	Class  string `json:"class"`
	Key    string `json:"key,omitzero"`
	Item   int    `json:"item"`
	Field  int    `json:"field"`
	Path   string `json:"path"`
	Before *Size  `json:"before,omitzero"` // nil if absent
	After  *Size  `json:"after,omitzero"`  // nil if absent
	Words  []Word `json:"words"`           // the uncut difference, of kind "same", "removed" or "added"
	Page   int    `json:"page"`
	Pages  int    `json:"pages"`
	Side   string `json:"-"` // Place.Side
	Exact  string `json:"-"` // the exact value on this side, or "" for a page
}

// A Size describes a value.
type Size struct {
	Length int    `json:"length"` // in characters
	Digest string `json:"sha256"` // of the value as UTF-8, in hex
}

func sizeOf(v *value.Value) *Size {
	if v == nil {
		return nil
	}
	text := v.String()
	return &Size{utf8.RuneCountInString(text), sumOf(text)}
}

// Whole returns the value at a place of a sheet that New has made. It fails with problem.NotFound if the sheet
// doesn't have the field, or if the field is masked.
func (s *Sheet) Whole(at Place) (*Whole, error) {
	if at.Digest != "" && at.Digest != s.Digest {
		return nil, &problem.Error{Code: problem.Conflict, Kind: "digest", Detail: "the change is not what you looked at", Suggestion: "look at it again"}
	}
	none := problem.New(problem.NotFound, "the change has no such field")
	if at.Item < 0 || at.Item >= len(s.Items) || at.Field < 0 || at.Field >= len(s.Items[at.Item].Fields) {
		return nil, none
	}
	item := s.Items[at.Item]
	f := item.Fields[at.Field]
	if f.was == nil && f.is == nil {
		return nil, none
	}
	w := &Whole{Change: s.ID, Digest: s.Digest, Title: s.Title, Class: item.Class, Key: item.Key, Item: at.Item, Field: at.Field, Path: f.Path,
		Before: sizeOf(f.was), After: sizeOf(f.is), Page: max(at.Page, 1), Side: at.Side}
	side := map[string]*value.Value{"before": f.was, "after": f.is}
	switch v, known := side[at.Side]; {
	case v != nil:
		w.Exact = v.String()
		return w, nil
	case known:
		return nil, none
	case at.Side != "":
		return nil, problem.New(problem.InvalidArgument, "side must be before or after")
	}
	pages := splitPages(f.runs())
	if w.Page > len(pages) {
		return nil, problem.New(problem.NotFound, fmt.Sprintf("it has %d pages", len(pages)))
	}
	w.Words, w.Pages = pages[w.Page-1], len(pages)
	return w, nil
}

// runs returns the difference between the values of f.
func (f Field) runs() []run {
	switch {
	case f.was == nil:
		return []run{{f.is.String(), "added"}}
	case f.is == nil:
		return []run{{f.was.String(), "removed"}}
	case f.was.String() == f.is.String():
		return []run{{f.is.String(), "same"}}
	case f.was.Kind() == value.String && f.is.Kind() == value.String:
		d := differ{cells: maxCells}
		return d.runs(f.was.Text(), f.is.Text())
	}
	return []run{{f.was.String(), "removed"}, {f.is.String(), "added"}}
}

// splitPages divides runs into pages of pageSize characters. It returns at least one page.
func splitPages(runs []run) [][]Word {
	pages := [][]Word{{}}
	left := pageSize
	for _, r := range runs {
		for r.text != "" {
			if left == 0 {
				pages, left = append(pages, []Word{}), pageSize
			}
			head := first(r.text, left)
			at := len(pages) - 1
			pages[at] = append(pages[at], Word{Visible(head), r.kind})
			r.text, left = r.text[len(head):], left-utf8.RuneCountInString(head)
		}
	}
	return pages
}

// A Long is a field that has an unread part.
type Long struct {
	Item, Field int
	Path        string
	Unread      int // characters
	Pages       int
	Sides       []string // the sides that are shown only in part

	name string // identifies the change, the version and the values
}

// Longs returns the fields of a sheet that have an unread part. New must have made the sheet.
func (s *Sheet) Longs() []Long {
	var out []Long
	for i, item := range s.Items {
		for k, f := range item.Fields {
			if f.Unread == 0 {
				continue
			}
			l := Long{Item: i, Field: k, Path: f.Path, Unread: f.Unread, Pages: len(splitPages(f.runs()))}
			var sums []string
			for _, side := range []struct {
				name string
				of   *value.Value
				cut  int
			}{{"before", f.was, f.Before.cut}, {"after", f.is, f.After.cut}} {
				sum := ""
				if side.of != nil {
					sum = sumOf(side.of.String())
				}
				if side.cut > 0 {
					l.Sides = append(l.Sides, side.name)
				}
				sums = append(sums, sum)
			}
			l.name = fmt.Sprintf("%s %s %d %d %s", s.ID, s.Digest, i, k, strings.Join(sums, " "))
			out = append(out, l)
		}
	}
	return out
}

// pages returns the pages of l as parts.
func (l Long) pages() (out []string) {
	for n := range l.Pages {
		out = append(out, strconv.Itoa(n+1))
	}
	return out
}

// marks returns the names of the records that a person has opened parts of l.
func (l Long) marks(person string, parts []string) (out []string) {
	for _, part := range parts {
		out = append(out, l.Mark(person, part))
	}
	return out
}

// Mark returns the name of the record that a person has opened a part of l. The part is a page ("1") or a side.
func (l Long) Mark(person, part string) string {
	return markOf("opened:", l.name, person, part)
}

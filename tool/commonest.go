package tool

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The limits of get_schema's samples of a class.
const (
	sampleRecords = 100             // the records with the greatest keys
	sampleTime    = 5 * time.Second // for all classes of one call: enough for a busy machine, and half of the call's own time
	sampleClasses = 12              // in one call
	sampleFields  = 16              // of one class
	mostCommon    = 5               // shown values of a field
	mostDifferent = 15              // a field with more different values in the sample isn't a kind
	longestValue  = 30              // in bytes
)

// commonest returns the commonest values of the text fields of v, in a sample of the records that the caller sees. It
// returns none if the caller can't read records with any tool, or if the sample can't be read in time.
func commonest(ctx context.Context, c *bailiwick.Call, v *policy.View) map[string][]string {
	if !slices.ContainsFunc([]string{"query_sql", "query_class", "get_sample_objects", "aggregate"}, c.MayCall) || len(v.Key()) != 1 || v.Mask(v.Key()[0]) != nil {
		return nil
	}
	q := &query.Find{Class: v.Class().FullName(), Limit: sampleRecords, Order: []query.Sort{{Path: query.Path{v.Key()[0]}, Desc: true}}, Lean: true}
	for _, f := range v.Fields() {
		if kind(v, f) && len(q.Keys) < sampleFields {
			q.Keys = append(q.Keys, query.Path{f.Name})
		}
	}
	if q.Keys == nil || v.Class().Recordless {
		return nil
	}
	notes := len(c.Notes())
	page, err := c.Read(ctx, q)
	c.Forget(notes) // the notes are about a query that the caller didn't write
	if err != nil {
		return nil // the description is complete without values
	}
	counts := map[string]map[string]int{}
	for i := range page.Count {
		row := page.Values(i)
		for j, name := range page.Columns {
			if row[j].Kind() != value.String {
				continue
			}
			if counts[name] == nil {
				counts[name] = map[string]int{}
			}
			counts[name][row[j].Text()]++
		}
	}
	out := map[string][]string{}
	for name, of := range counts {
		if top := top(of); top != nil {
			out[name] = top
		}
	}
	return out
}

// kind reports whether the values of a field may be kinds of records: short texts that neither the owner nor the source
// lists.
func kind(v *policy.View, f *schema.Field) bool {
	_, points := v.Pointer(f.Name)
	return f.Type == schema.String && f.Form == "" && f.Values == nil && v.Rule().Fields[f.Name].Values == nil && v.Mask(f.Name) == nil && !points && !v.Large(f.Name) &&
		!slices.Contains(v.Key(), f.Name)
}

// top returns the commonest values, or nil if they are not kinds: many, long or mostly different values.
func top(counts map[string]int) []string {
	total := 0
	for text, n := range counts {
		if total += n; len(text) > longestValue {
			return nil
		}
	}
	if len(counts) < 2 || len(counts) > mostDifferent || total < 2*len(counts) {
		return nil
	}
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, text := range texts[:min(mostCommon, len(texts))] {
		out = append(out, plainText(text))
	}
	return out
}

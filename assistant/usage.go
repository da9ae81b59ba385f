package assistant

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/llm"
)

// A Price is the price of a model, in US dollars per million tokens.
type Price struct {
	Input   float64 `json:"input"`
	Cached  float64 `json:"cached"`  // input read from the provider's cache
	Written float64 `json:"written"` // input written to the cache. 0 means the price of Input
	Output  float64 `json:"output"`
}

// Prices returns list prices by model, for short prompts. They come from public tables of 2026-11-22 and will change.
// So set Options.Prices to the prices of your provider. A model name with a date appended has the same price.
func Prices() map[string]Price {
	return map[string]Price{
		"gpt-4o-mini":           {Input: 0.15, Cached: 0.075, Output: 0.60},
		"gpt-4o":                {Input: 2.50, Cached: 1.25, Output: 10},
		"gpt-4.1":               {Input: 2, Cached: 0.50, Output: 8},
		"gpt-4.1-mini":          {Input: 0.40, Cached: 0.10, Output: 1.60},
		"gpt-4.1-nano":          {Input: 0.10, Cached: 0.025, Output: 0.40},
		"gpt-5":                 {Input: 1.25, Cached: 0.125, Output: 10},
		"gpt-5-mini":            {Input: 0.25, Cached: 0.025, Output: 2},
		"gpt-5-nano":            {Input: 0.05, Cached: 0.005, Output: 0.40},
		"gpt-5.6-sol":           {Input: 4, Cached: 0.40, Output: 20},
		"gpt-5.6-terra":         {Input: 2, Cached: 0.20, Output: 12},
		"gpt-5.6-luna":          {Input: 0.20, Cached: 0.02, Output: 1.20},
		"claude-haiku-4-5":      {Input: 1, Cached: 0.10, Written: 1.25, Output: 5},
		"claude-sonnet-4-5":     {Input: 3, Cached: 0.30, Written: 3.75, Output: 15},
		"claude-opus-4-5":       {Input: 5, Cached: 0.50, Written: 6.25, Output: 25},
		"claude-haiku-5-5":      {Input: 0.10, Cached: 0.01, Written: 0.125, Output: 0.50},
		"claude-sonnet-5-5":     {Input: 2, Cached: 0.10, Written: 2.50, Output: 10},
		"claude-opus-5-5":       {Input: 4, Cached: 0.20, Written: 5, Output: 20},
		"gemini-2.5-flash":      {Input: 0.30, Cached: 0.03, Output: 2.50},
		"gemini-2.5-pro":        {Input: 1.25, Cached: 0.125, Output: 10},
		"gemini-3.5-flash-lite": {Input: 0.30, Cached: 0.03, Output: 2.50},
		"gemini-3.8-flash":      {Input: 0.75, Cached: 0.075, Output: 3.75},
	}
}

// price returns the price of the model, or nil if it is unknown. A local model is free unless a price is given.
func (p Provider) price(prices map[string]Price, model string) *Price {
	best := ""
	for name := range prices {
		if model == name || strings.HasPrefix(model, name+"-") && isVersionSuffix(model[len(name)+1:]) {
			best = max(best, name)
		}
	}
	if found, ok := prices[best]; ok {
		return &found
	}
	if kinds()[p.Name].local {
		return &Price{}
	}
	return nil
}

// isVersionSuffix reports whether the end of a model's name is a date or a three-digit revision. Otherwise the name
// belongs to another model.
func isVersionSuffix(end string) bool {
	first, _, _ := strings.Cut(end, "-")
	return end == "latest" || len(first) >= 3 && strings.Trim(end, "0123456789-") == ""
}

// A Usage contains the number of requests to the provider, the tokens as the provider counts them, and their cost in
// US dollars.
type Usage struct {
	Requests int     `json:"requests"`
	Input    int     `json:"input_tokens"`
	Cached   int     `json:"cached_tokens"` // part of Input
	Output   int     `json:"output_tokens"`
	Cost     float64 `json:"cost_usd"`
	Unpriced string  `json:"unpriced,omitempty"` // a used model whose price is unknown. Cost omits it
}

// Add returns the sum of both usages.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{u.Requests + v.Requests, u.Input + v.Input, u.Cached + v.Cached, u.Output + v.Output, u.Cost + v.Cost, u.Unpriced}
	if sum.Unpriced == "" {
		sum.Unpriced = v.Unpriced
	}
	return sum
}

// String returns the usage in one line: "84 in + 120 out = 204 tokens $0.000101".
func (u Usage) String() string {
	text := fmt.Sprintf("%d in", u.Input)
	if u.Cached > 0 {
		text += fmt.Sprintf(" (%d cached)", u.Cached)
	}
	text += fmt.Sprintf(" + %d out = %d tokens $%.6f", u.Output, u.Input+u.Output, u.Cost)
	if u.Unpriced != "" {
		text += " (the price of " + u.Unpriced + " is unknown and counts as 0)"
	}
	return text
}

// usageOf returns the usage of one request.
func (a *Assistant) usageOf(u llm.Usage) Usage {
	sum := Usage{Requests: 1, Input: u.Input, Cached: u.Cached, Output: u.Output}
	if a.price == nil {
		sum.Unpriced = a.name
		return sum
	}
	written := a.price.Written
	if written == 0 {
		written = a.price.Input
	}
	fresh := max(u.Input-u.Cached-u.Written, 0)
	sum.Cost = (float64(fresh)*a.price.Input + float64(u.Cached)*a.price.Cached + float64(u.Written)*written + float64(u.Output)*a.price.Output) / 1e6
	return sum
}

package assistant

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/llm"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Provider selects the model and its address. Name is one of ProviderNames. The defaults of Model and BaseURL
// depend on Name.
type Provider struct {
	Name    string
	Key     string // required unless the provider is local. Never shown
	Model   string
	BaseURL string // the address including the API's version, such as https://api.openai.com/v1
}

// String returns the provider without its key.
func (p Provider) String() string { return p.Name + "/" + cmp.Or(p.Model, kinds()[p.Name].model) }

// GoString returns the provider without its key.
func (p Provider) GoString() string {
	return fmt.Sprintf("assistant.Provider{Name:%q, Model:%q, BaseURL:%q}", p.Name, p.Model, p.BaseURL)
}

// A kind describes a provider.
type kind struct {
	base, model string
	local       bool // requires no key and costs nothing
	noSampling  bool // the format has no sampling parameters
	make        func(llm.Endpoint, string) llm.Model
}

// kinds is the table of providers.
func kinds() map[string]kind {
	chat := func(e llm.Endpoint, model string) llm.Model { return &llm.Chat{Endpoint: e, Model: model} }
	compatible := func(e llm.Endpoint, model string) llm.Model {
		return &llm.Chat{Endpoint: e, Model: model, Compatible: true}
	}
	responses := func(e llm.Endpoint, model string) llm.Model {
		return &llm.Responses{Endpoint: e, Model: model}
	}
	messages := func(e llm.Endpoint, model string) llm.Model {
		return &llm.Messages{Endpoint: e, Model: model}
	}
	gemini := func(e llm.Endpoint, model string) llm.Model { return &llm.Gemini{Endpoint: e, Model: model} }
	const openAI = "https://api.openai.com/v1"
	return map[string]kind{
		"openai":           {base: openAI, model: "gpt-4o-mini", make: chat},
		"openai-responses": {base: openAI, model: "gpt-4o-mini", make: responses},
		"anthropic":        {base: "https://api.anthropic.com/v1", model: "claude-haiku-4-5", noSampling: true, make: messages},
		"google":           {base: "https://generativelanguage.googleapis.com/v1beta", model: "gemini-3.5-flash-lite", make: gemini},
		"lmstudio":         {base: "http://localhost:1234/v1", model: "qwen2.5-7b-instruct", local: true, make: compatible},
		"ollama":           {base: "http://localhost:11434/v1", model: "qwen2.5:7b", local: true, make: compatible},
		"vllm":             {base: "http://localhost:8000/v1", model: "Qwen/Qwen2.5-7B-Instruct", local: true, make: compatible},
		"compatible":       {local: true, make: compatible}, // any other server with the chat completions API
	}
}

// ProviderNames lists the providers.
func ProviderNames() []string { return slices.Sorted(maps.Keys(kinds())) }

// These are the variables that FromEnvironment reads.
const (
	EnvProvider = "LLM_PROVIDER"
	EnvKey      = "LLM_API_KEY"
	EnvModel    = "LLM_MODEL"
	EnvBaseURL  = "LLM_BASE_URL"
)

// FromEnvironment returns the provider in LLM_PROVIDER, LLM_API_KEY, LLM_MODEL and LLM_BASE_URL. lookup is
// os.LookupEnv or another source of variables. New checks the result.
func FromEnvironment(lookup func(string) (string, bool)) Provider {
	get := func(name string) string {
		v, _ := lookup(name)
		return strings.TrimSpace(v)
	}
	return Provider{Name: strings.ToLower(get(EnvProvider)), Key: get(EnvKey), Model: get(EnvModel), BaseURL: get(EnvBaseURL)}
}

// open returns the model of a provider, and its name.
func (p Provider) open(timeout time.Duration, c *http.Client) (llm.Model, string, error) {
	k, ok := kinds()[p.Name]
	switch {
	case p.Name == "":
		return nil, "", fmt.Errorf("no provider is named: set %s to one of %s", EnvProvider, strings.Join(ProviderNames(), ", "))
	case !ok:
		return nil, "", fmt.Errorf("there is no provider %q. There are %s%s", p.Name, strings.Join(ProviderNames(), ", "), problem.DidYouMean(problem.Nearest(p.Name, ProviderNames(), 1)))
	case p.Key == "" && !k.local:
		return nil, "", fmt.Errorf("the provider %s needs a key: set %s", p.Name, EnvKey)
	case strings.ContainsFunc(p.Key, func(c rune) bool { return c <= ' ' || c >= 0x7f }):
		return nil, "", fmt.Errorf("the key in %s has characters that no key has. Was it cut or quoted wrongly?", EnvKey)
	}
	base, model := cmp.Or(p.BaseURL, k.base), cmp.Or(p.Model, k.model)
	if base == "" || model == "" {
		return nil, "", fmt.Errorf("the provider %s needs a base URL and a model: set %s and %s", p.Name, EnvBaseURL, EnvModel)
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", fmt.Errorf("the base URL in %s must be like https://api.openai.com/v1 or http://localhost:1234/v1", EnvBaseURL)
	}
	if u.Scheme == "http" && !k.local && !loopback(u.Hostname()) {
		return nil, "", fmt.Errorf("the base URL in %s must begin with https://: over http://, others can read the key", EnvBaseURL)
	}
	return k.make(llm.Endpoint{Base: u, Key: p.Key, Timeout: timeout, HTTP: c}, model), model, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

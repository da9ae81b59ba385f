// Package talk is the commands that have a model answer: ask, for one question, and chat.
//
// They are agents like any other: they reach the application through a client of a gateway. They refuse to propose a write
// that the person at the terminal did not agree to.
package talk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/internal/terminal"
)

// envFile is read from the working folder where the environment names no provider.
const envFile = ".env"

// setUp is what a person without a provider is told; what costs nothing comes first.
const setUp = `no model is set up. One on this machine, free:
  ollama pull qwen2.5:7b
  export LLM_PROVIDER=ollama LLM_MODEL=qwen2.5:7b
or LM Studio (LLM_PROVIDER=lmstudio), vLLM (vllm), any server that speaks chat completions (compatible, with LLM_BASE_URL).
One of a provider:
  export LLM_PROVIDER=anthropic LLM_API_KEY=…    # or openai, openai-responses, google; LLM_MODEL names another model
The same lines, without export, can be in a file .env in this folder.
Without a model, "bailiwick console" tries every tool by hand`

// Provider returns the provider that the environment names, or, where it names none, .env in the working folder. The two
// are never mixed: a file must not decide where a key of the environment is sent.
func Provider() (assistant.Provider, error) {
	p := assistant.FromEnvironment(os.LookupEnv)
	if p.Name != "" {
		return p, nil
	}
	vars, err := readEnv(envFile)
	if err != nil {
		return p, err
	}
	if p = assistant.FromEnvironment(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }); p.Name == "" {
		return p, terminal.Usage(errors.New(setUp))
	}
	return p, nil
}

// readEnv reads lines of NAME=value: comments, quotes and export as shells have them, without substitution. A file that
// is not there is empty.
func readEnv(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	vars, n := map[string]string{}, 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		name, v, ok := strings.Cut(strings.TrimPrefix(text, "export "), "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("%s:%d: a line must be NAME=value", path, n) // the line may hold a key, so it isn't shown
		}
		v = strings.TrimSpace(v)
		if q := strings.IndexAny(v, `"'`); q == 0 {
			end := strings.IndexByte(v[1:], v[0])
			if end < 0 {
				return nil, fmt.Errorf("%s:%d: a quote is not closed", path, n)
			}
			v = v[1 : 1+end]
		} else if before, _, found := strings.Cut(v, " #"); found {
			v = strings.TrimSpace(before)
		}
		vars[name] = v
	}
	return vars, nil
}

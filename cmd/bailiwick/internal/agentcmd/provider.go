package agentcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// envFile is read from the working folder if the environment names no provider.
const envFile = ".env"

// setUp is shown to a person if no provider is configured. Free options come first.
const setUp = `no model is set up. One on this machine, free:
  ollama pull qwen2.5:7b
  export LLM_PROVIDER=ollama LLM_MODEL=qwen2.5:7b
or LM Studio (LLM_PROVIDER=lmstudio), vLLM (vllm), any server that speaks chat completions (compatible, with LLM_BASE_URL).
One of a provider:
  export LLM_PROVIDER=anthropic LLM_API_KEY=…    # or openai, openai-responses, google; LLM_MODEL names another model
The same lines, without export, can be in a file .env in this folder.
Without a model, "bailiwick shell" tries every tool by hand`

// provider returns the provider that the environment names. If it names none, provider uses .env in the working
// folder. It never combines the two, because a file must not decide where a key from the environment is sent.
func provider() (assistant.Provider, error) {
	p := assistant.FromEnvironment(os.LookupEnv)
	if p.Name != "" {
		return p, nil
	}
	vars, err := readEnv(envFile)
	if err != nil {
		return p, err
	}
	if p = assistant.FromEnvironment(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }); p.Name == "" {
		return p, config.Usage(errors.New(setUp))
	}
	return p, nil
}

// readEnv reads lines of NAME=value. It supports comments, quotes and export like shells, but no substitution. A
// missing file counts as empty.
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
			return nil, fmt.Errorf("%s:%d: a line must be NAME=value", path, n) // the error omits the line, because it may contain a key
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

package operate

import (
	"path/filepath"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// A Server is the server that a client connects to. It is a URL with a token, or a program that the client starts.
type Server struct {
	Name    string   // the key of the entry
	URL     string   // the URL of the endpoint, or "" for a program
	Token   string   // the bearer token, or ""
	Command []string // the absolute path of the program and its arguments, if URL is ""
}

// A Machine describes where clients store their files.
type Machine struct {
	OS     string              // the operating system, as in runtime.GOOS
	Home   string              // the user's home directory
	Config string              // the user's configuration directory, as from os.UserConfigDir
	Getenv func(string) string // reads an environment variable. Some clients take their directory from one
}

// A ConfiguredClient is an MCP client whose configuration this package can edit.
type ConfiguredClient struct {
	ID   string // its name on the command line
	Name string
	// Format is where the file format is documented. It includes the tested version or the date of the documentation.
	Format string
	// Check tells the user how to see that the client is connected.
	Check string
	// Project is the path of the file within a project folder, with slashes. It is "" if the client has no such file,
	// or if the file can't refer to a variable.
	Project string
	// OnlyPrograms means that the file can't contain URLs.
	OnlyPrograms bool

	file     func(Machine) string
	at       []string // the path of the object or table that contains the servers
	variable string   // how the file refers to edge.InstallVariable
	toml     bool
	inputs   bool // the file asks for the token with an input
	remote   func(Server) any
	local    func(Server) any
}

// File returns the path of the user's configuration file.
func (c *ConfiguredClient) File(m Machine) string { return c.file(m) }

// ConfiguredClients returns all known clients in the order of their IDs.
func ConfiguredClients() []ConfiguredClient {
	return []ConfiguredClient{claudeCode(), claudeDesktop(), codex(), cursor(), gemini(), lmStudio(), opencode(), vsCode(), windsurf(), zed()}
}

// An entry contains the members that clients use, in their usual order.
type entry struct {
	Type      string            `json:"type,omitempty"`
	Source    string            `json:"source,omitempty"`
	Enabled   bool              `json:"enabled,omitempty"`
	URL       string            `json:"url,omitempty"`
	HTTPURL   string            `json:"httpUrl,omitempty"`
	ServerURL string            `json:"serverUrl,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Command   any               `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
}

func headers(s Server) map[string]string {
	if s.Token == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + s.Token}
}

func remote(s Server) any { return entry{URL: s.URL, Headers: headers(s)} }
func local(s Server) any  { return entry{Command: s.Command[0], Args: s.Command[1:]} }

// claudeCode returns the client Claude Code. Its single file contains the servers of all projects.
func claudeCode() ConfiguredClient {
	return ConfiguredClient{ID: "claude-code", Name: "Claude Code", Format: "tried with @anthropic-ai/claude-code 2.1.197", Check: "claude mcp list",
		Project: ".mcp.json", at: []string{"mcpServers"}, variable: "${" + edge.InstallVariable + "}",
		file: func(m Machine) string {
			if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
				return filepath.Join(dir, ".claude.json")
			}
			return filepath.Join(m.Home, ".claude.json")
		},
		remote: func(s Server) any { return entry{Type: "http", URL: s.URL, Headers: headers(s)} },
		local:  func(s Server) any { return entry{Type: "stdio", Command: s.Command[0], Args: s.Command[1:]} }}
}

func claudeDesktop() ConfiguredClient {
	return ConfiguredClient{ID: "claude-desktop", Name: "Claude Desktop", Format: "modelcontextprotocol.io, “Connect to local MCP servers”, 2025", Check: "restart it, then Settings, Developer",
		at: []string{"mcpServers"}, OnlyPrograms: true, local: local,
		file: func(m Machine) string { return filepath.Join(m.Config, "Claude", "claude_desktop_config.json") }}
}

// codex returns the client Codex. Its file is TOML.
func codex() ConfiguredClient {
	return ConfiguredClient{ID: "codex", Name: "Codex", Format: "tried with @openai/codex 0.169.0", Check: "codex mcp list",
		at: []string{"mcp_servers"}, toml: true,
		file: func(m Machine) string {
			if dir := m.Getenv("CODEX_HOME"); dir != "" {
				return filepath.Join(dir, "config.toml")
			}
			return filepath.Join(m.Home, ".codex", "config.toml")
		},
		remote: func(s Server) any { return table{{"url", s.URL}, {"http_headers", headers(s)}} },
		local:  func(s Server) any { return table{{"command", s.Command[0]}, {"args", s.Command[1:]}} }}
}

func cursor() ConfiguredClient {
	return ConfiguredClient{ID: "cursor", Name: "Cursor", Format: "cursor.com/docs, “Model Context Protocol”, 2025", Check: "Cursor Settings, MCP",
		Project: ".cursor/mcp.json", at: []string{"mcpServers"}, variable: "${env:" + edge.InstallVariable + "}", remote: remote, local: local,
		file: func(m Machine) string { return filepath.Join(m.Home, ".cursor", "mcp.json") }}
}

func gemini() ConfiguredClient {
	return ConfiguredClient{ID: "gemini", Name: "Gemini CLI", Format: "tried with @google/gemini-cli 0.61.0", Check: "gemini mcp list",
		Project: ".gemini/settings.json", at: []string{"mcpServers"}, variable: "$" + edge.InstallVariable, local: local,
		file:   func(m Machine) string { return filepath.Join(m.Home, ".gemini", "settings.json") },
		remote: func(s Server) any { return entry{HTTPURL: s.URL, Headers: headers(s)} }}
}

func lmStudio() ConfiguredClient {
	return ConfiguredClient{ID: "lm-studio", Name: "LM Studio", Format: "lmstudio.ai/docs, “Use MCP Servers”, 2025", Check: "the tab Program",
		at: []string{"mcpServers"}, remote: remote, local: local,
		file: func(m Machine) string { return filepath.Join(m.Home, ".lmstudio", "mcp.json") }}
}

// opencode returns the client opencode. Its file is in XDG_CONFIG_HOME on every operating system.
func opencode() ConfiguredClient {
	return ConfiguredClient{ID: "opencode", Name: "opencode", Format: "tried with opencode-ai 1.18.33", Check: "opencode mcp list",
		Project: "opencode.json", at: []string{"mcp"}, variable: "{env:" + edge.InstallVariable + "}",
		file: func(m Machine) string {
			dir := m.Getenv("XDG_CONFIG_HOME")
			if dir == "" {
				dir = filepath.Join(m.Home, ".config")
			}
			return filepath.Join(dir, "opencode", "opencode.json")
		},
		remote: func(s Server) any {
			return entry{Type: "remote", Enabled: true, URL: s.URL, Headers: headers(s)}
		},
		local: func(s Server) any { return entry{Type: "local", Enabled: true, Command: s.Command} }}
}

func vsCode() ConfiguredClient {
	return ConfiguredClient{ID: "vscode", Name: "VS Code", Format: "code.visualstudio.com/docs, “Use MCP servers in VS Code”, 2025", Check: "the command “MCP: List Servers”",
		Project: ".vscode/mcp.json", at: []string{"servers"}, variable: "${input:" + edge.InstallInputID + "}", inputs: true,
		file:   func(m Machine) string { return filepath.Join(m.Config, "Code", "User", "mcp.json") },
		remote: func(s Server) any { return entry{Type: "http", URL: s.URL, Headers: headers(s)} },
		local:  func(s Server) any { return entry{Type: "stdio", Command: s.Command[0], Args: s.Command[1:]} }}
}

func windsurf() ConfiguredClient {
	return ConfiguredClient{ID: "windsurf", Name: "Windsurf", Format: "docs.windsurf.com, “Cascade MCP Integration”, 2025", Check: "Settings, Cascade, MCP Servers",
		at: []string{"mcpServers"}, local: local,
		file:   func(m Machine) string { return filepath.Join(m.Home, ".codeium", "windsurf", "mcp_config.json") },
		remote: func(s Server) any { return entry{ServerURL: s.URL, Headers: headers(s)} }}
}

// zed returns the client Zed. Its file has a different path on Windows.
func zed() ConfiguredClient {
	return ConfiguredClient{ID: "zed", Name: "Zed", Format: "zed.dev/docs/ai/mcp, 2025", Check: "the Agent Panel's settings",
		at: []string{"context_servers"}, remote: remote,
		local: func(s Server) any { return entry{Source: "custom", Command: s.Command[0], Args: s.Command[1:]} },
		file: func(m Machine) string {
			if m.OS == "windows" {
				return filepath.Join(m.Config, "Zed", "settings.json")
			}
			return filepath.Join(m.Home, ".config", "zed", "settings.json")
		}}
}

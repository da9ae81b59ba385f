package operate

import (
	"path/filepath"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// A Server is what a client connects to: a URL with a token, or a program that the client starts.
type Server struct {
	Name    string   // the key of the entry
	URL     string   // of the endpoint, or "" for a program
	Token   string   // is sent as a bearer token, or ""
	Command []string // the program's absolute path and its arguments, if URL is ""
}

// A Machine says where clients keep their files.
type Machine struct {
	OS     string              // as runtime.GOOS
	Home   string              // the user's home directory
	Config string              // the user's configuration directory, as os.UserConfigDir
	Getenv func(string) string // some clients take their directory from a variable
}

// A ConfiguredClient is a program that speaks MCP.
type ConfiguredClient struct {
	ID   string // the word for it on the command line
	Name string
	// Format is where its form is documented, with the version that it was tried with or the date of the documentation.
	Format string
	// Check is how its user sees that it is connected.
	Check string
	// Project is the file in the folder of a project, with slashes, or "" if the client has none, or it can't refer to a variable.
	Project string
	// OnlyPrograms: the file can't hold URLs.
	OnlyPrograms bool

	file     func(Machine) string
	at       []string // the path of the object, or table, of servers
	variable string   // how the file refers to edge.InstallVariable
	toml     bool
	inputs   bool // the file asks for the token by an input
	remote   func(Server) any
	local    func(Server) any
}

// File returns the path of the user's file.
func (c *ConfiguredClient) File(m Machine) string { return c.file(m) }

// ConfiguredClients returns all clients that are known, in the order of their IDs.
func ConfiguredClients() []ConfiguredClient {
	return []ConfiguredClient{claudeCode(), claudeDesktop(), codex(), cursor(), gemini(), lmStudio(), opencode(), vsCode(), windsurf(), zed()}
}

// An entry has the members that clients use, in the order in which people write them.
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

// claudeCode returns the client Claude Code, whose one file has the servers of all projects.
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

// codex returns the client Codex, whose file is TOML.
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

// opencode returns the client opencode, whose file is in XDG_CONFIG_HOME on every system.
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

// zed returns the client Zed, whose file has another place on Windows.
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

package edge

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// InstallVariable is the environment variable for the token, for configurations that must not contain the token.
const InstallVariable = "BAILIWICK_TOKEN"

// InstallInputID is the ID of the input in which VS Code requests the token.
const InstallInputID = "bailiwick-token"

// An InstallLink adds a server to an MCP client.
type InstallLink struct{ Client, URL string }

// InstallInput returns the input in which VS Code requests the token.
func InstallInput() map[string]any {
	return map[string]any{"id": InstallInputID, "type": "promptString", "description": "The token of Bailiwick", "password": true}
}

// InstallLinks returns links that add the server at address to MCP clients. The links contain no token. VS Code
// requests the token from the user, and Cursor reads it from InstallVariable. Formats: cursor.com/docs, “MCP install
// links”, and code.visualstudio.com/api, “MCP developer guide”, 2025.
func InstallLinks(name, address string) []InstallLink {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	bearer := func(token string) map[string]any { return map[string]any{"Authorization": "Bearer " + token} }
	cursor := encode(map[string]any{"url": address, "headers": bearer("${env:" + InstallVariable + "}")})
	code := encode(map[string]any{"type": "http", "url": address, "headers": bearer("${input:" + InstallInputID + "}")})
	return []InstallLink{
		{"Cursor", "https://cursor.com/en/install-mcp?name=" + escape(name) + "&config=" + escape(base64.StdEncoding.EncodeToString(cursor))},
		{"VS Code", "https://insiders.vscode.dev/redirect/mcp/install?name=" + escape(name) + "&config=" + escape(string(code)) + "&inputs=" + escape(string(encode([]any{InstallInput()})))},
	}
}

// encode returns v as JSON. v must be a value that can always be encoded.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

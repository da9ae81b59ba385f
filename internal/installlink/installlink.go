// Package installlink makes the links that add this server to an MCP client when they are opened.
package installlink

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// Variable is the environment variable that holds the token where a configuration must hold none.
const Variable = "BAILIWICK_TOKEN"

// InputID is the id of the input with which VS Code asks for the token.
const InputID = "bailiwick-token"

// A Link adds a server to a client.
type Link struct{ Client, URL string }

// Input is the input with which VS Code asks for the token.
func Input() map[string]any {
	return map[string]any{"id": InputID, "type": "promptString", "description": "The token of Bailiwick", "password": true}
}

// Links returns the links that add the server at address, without a token: VS Code asks for it, Cursor reads it from
// Variable. Formats: cursor.com/docs, “MCP install links”, and code.visualstudio.com/api, “MCP developer guide”, 2025.
func Links(name, address string) []Link {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	bearer := func(token string) map[string]any { return map[string]any{"Authorization": "Bearer " + token} }
	cursor := encode(map[string]any{"url": address, "headers": bearer("${env:" + Variable + "}")})
	code := encode(map[string]any{"type": "http", "url": address, "headers": bearer("${input:" + InputID + "}")})
	return []Link{
		{"Cursor", "https://cursor.com/en/install-mcp?name=" + escape(name) + "&config=" + escape(base64.StdEncoding.EncodeToString(cursor))},
		{"VS Code", "https://insiders.vscode.dev/redirect/mcp/install?name=" + escape(name) + "&config=" + escape(string(code)) + "&inputs=" + escape(string(encode([]any{Input()})))},
	}
}

// encode encodes what always can be.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// TestList checks which tools tools/list contains: by default, for a client that requests all, and for a category in
// upper or lower case. Texts in the list may name only listed tools. The limits of arguments must be included.
func TestList(t *testing.T) {
	s := &shelf{}
	s.put("query_class", tool.Query, echo)
	s.put("count_objects", tool.Query, echo)
	s.list[0].Description = "Finds records. count_objects counts them. get_object reads one."
	s.list[0].Input = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","minLength":2}},"additionalProperties":false}`)
	s.list[1].Unlisted = true
	_, url := start(t, mcp.Options{Tools: s})
	const bounds = `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","minLength":2}}}`
	for _, tt := range []struct {
		name, header, params string
		many                 int
		says                 string
	}{
		{"default", "", "", 1, `"description":"Finds records."`},
		{"header", "\nBailiwick-Tools: full", "", 2, `"description":"Finds records. count_objects counts them."`},
		{"another header", "\nBailiwick-Tools: none", "", 1, `"description":"Finds records."`},
		{"meta", "", `,"dev.bailiwick/tools":"full"`, 2, `"listed":false`},
		{"category", "", `},"category":"query","x":{`, 2, `"listed":false`},
	} {
		params := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}` + tt.params + `}}`
		params = strings.Replace(params, `{},},"category"`, `{}},"category"`, 1)
		_, body := send(t, url, call{header: "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/list" + tt.header, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + params + `}`})
		if n := strings.Count(body, `"inputSchema"`); n != tt.many || !strings.Contains(body, tt.says) || !strings.Contains(body, bounds) || strings.Contains(body, "get_object") {
			t.Errorf("%s: %d tools, want %d with %s: %s", tt.name, n, tt.many, tt.says, body)
		}
	}
}

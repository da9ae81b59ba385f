package authserver

import "testing"

// TestRedirects checks the addresses to which codes may be sent. These are addresses of web sites, of programs on
// this machine, of apps named after a domain, and of known clients. Schemes that an operating system assigns to its
// own programs are refused.
func TestRedirects(t *testing.T) {
	for _, to := range []string{"https://app.example/cb", "http://127.0.0.1:33418/", "http://localhost/cb", "http://[::1]:9/cb", "cursor://anysphere.cursor-mcp/oauth/callback",
		"vscode://vscode.github-authentication/did-authenticate", "vscode-insiders://x/y", "windsurf://a/b", "zed://oauth", "claude://oauth", "com.example.app:/cb", "com.example.my-app://cb",
		"io.github.someone:/x", "dev.warp.stable:/x"} {
		if err := checkRedirect(to); err != nil {
			t.Errorf("%s: %v", to, err)
		}
	}
	for _, to := range []string{"javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "ms-msdt:/id", "ms-msdt://x", "search-ms:query=x", "search:query=x",
		"ms-officecmd:x", "ms-word:ofe|u|x", "ms-excel:x", "ms-appinstaller:?source=x", "ms-search://x", "ms-settings:x", "ms-cxh:x", "ms-screenclip:x", "shell:startup", "steam://run/1",
		"x-apple.systempreferences:x", "x-apple-helpbook:x", "itms-services://x", "apt:x", "git+ssh://x", "ssh://x", "telnet://x", "ldap://x", "smb://x/y", "nfs://x", "jnlp:x", "jar:x",
		"res://x", "mhtml:x", "hcp://x", "wsl:x", "bitsadmin:x", "powershell:x", "cmd:x", "myapp://cb", "app:/cb", "a.:/x", ".a:/x", "com..app:/x", "com.example.:/x", "com.-x:/y", "about:blank", "blob:x",
		"view-source:x", "intent://x", "chrome://x", "content://x", "http://evil.example/", "https:x", "https:///x", "mailto:x", "tel:1", "ws://x", "ftp://x"} {
		if checkRedirect(to) == nil {
			t.Errorf("%s is allowed", to)
		}
	}
}

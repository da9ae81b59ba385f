package console

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	for source, want := range map[string]string{
		"plain":                 "",
		"two\n\nparagraphs <b>": "",
		"# Title\n\nA *word* and **two**, `code`.":                  "<p><strong>Title</strong></p><p>A <em>word</em> and <strong>two</strong>, <code>code</code>.</p>",
		"- a\n- b\n\n1. c":                                          "<ul><li>a</li><li>b</li></ul><ol><li>c</li></ol>",
		"> said\n\n---":                                             "<blockquote><p>said</p></blockquote><p>———</p>",
		"```js\n<script>x</script>\n```":                            "<pre>&lt;script&gt;x&lt;/script&gt;\n</pre>",
		"[ok](https://evil.example/\"onclick=x) ![a](javascript:x)": "<p>ok (https://evil.example/&#34;onclick=x) [image: a] (javascript:x)</p>",
		"*x* <img src=x onerror=alert(1)>":                          "<p><em>x</em> &lt;img src=x onerror=alert(1)&gt;</p>",
		"<script>\nalert(1)\n</script>":                             "<pre>&lt;script&gt;\nalert(1)\n&lt;/script&gt;\n</pre>",
		"*a\u202eb*":                                                "<p><em>a<span class=\"odd\">U+202E</span>b</em></p>",
		"*<https://x.example>* &amp; &lt;b&gt;":                     "<p><em>https://x.example</em> &amp;amp; &amp;lt;b&amp;gt;</p>",
		strings.Repeat("*a* ", 6000):                                "",
	} {
		if got := string(renderMarkdown(source)); strings.TrimRight(strings.ReplaceAll(got, "\n</pre>", "</pre>"), "\n") != strings.ReplaceAll(want, "\n</pre>", "</pre>") {
			t.Errorf("%.60q:\n got %s\nwant %s", source, got, want)
		}
	}
	if deep := string(renderMarkdown(strings.Repeat("> ", 200) + "x")); strings.Count(deep, "<blockquote>") > maxDepth+1 || !strings.Contains(deep, "…") {
		t.Error(deep)
	}
}

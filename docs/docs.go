// Package docs holds the documentation of this folder in the program, serves it as a site and searches it.
//
//	the Markdown files ─New→ Site ─ServeHTTP→ one HTML page for each file, under the file's name
//	                              ─Search: words→ sections, the best first
//	                              ─Markdown: a name→ the text of a page or of one of its sections
//
// A page keeps the name of its file. So the links between the files work as they do on GitHub, and no link is written
// twice. The menu is README.md of this folder. Its neighbours are scripts/docs, which generates some of the files, and
// test/guides, which plays their commands.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/bailiwick-dev/bailiwick/problem"
)

//go:embed *.md *.json *.yaml guides internals decisions images
var files embed.FS

//go:embed site
var assets embed.FS

// repository is where links lead that leave this folder.
const repository = "https://github.com/bailiwick-dev/bailiwick/blob/main/"

// start is the page that the site begins with. Its lists of links are the menu.
const start = "README.md"

// A page is one Markdown file.
type page struct {
	name     string // its path in this folder, "guides/your-api.md"
	title    string // its first heading
	source   []byte
	body     template.HTML
	sections []section // in the order of the page
}

// A Site is the documentation as pages and sections. It is immutable, so it is safe for concurrent use.
type Site struct {
	pages map[string]*page
	menu  []group
	index index
	view  *template.Template
	other http.Handler // pictures, the style sheet and the files that aren't Markdown
}

// New returns the site of the documentation that the program was built with. The error is a fault of the build.
func New() (*Site, error) {
	s := &Site{pages: map[string]*page{}}
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	names, err := markdownFiles()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		p, err := newPage(md, name)
		if err != nil {
			return nil, fmt.Errorf("docs/%s: %w", name, err)
		}
		s.pages[name] = p
		s.index.add(p)
	}
	s.menu = s.menuOf(md, s.pages[start])
	if s.view, err = template.ParseFS(assets, "site/*.html"); err != nil {
		return nil, err
	}
	s.other = http.FileServerFS(files)
	return s, nil
}

// markdownFiles returns the names of the Markdown files, sorted.
func markdownFiles() (names []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// newPage parses and renders the file name.
func newPage(md goldmark.Markdown, name string) (*page, error) {
	source, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := &page{name: name, title: name, source: source}
	doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{}))))
	p.sections = sectionsOf(name, doc, source)
	if len(p.sections) > 0 {
		p.title = p.sections[0].Heading
	}
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(outside(name, string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, doc); err != nil {
		return nil, err
	}
	p.body = template.HTML(b.String()) // the files are ours, and raw HTML in them is left out
	return p, nil
}

// outside returns the link of the page name to destination. A link that leaves this folder leads to the repository.
func outside(name, destination string) string {
	if !strings.HasPrefix(destination, "../") {
		return destination
	}
	to := path.Join("docs", path.Dir(name), destination)
	if strings.HasPrefix(to, "docs/") {
		return destination
	}
	return repository + to
}

// anchors makes the ids of headings as GitHub does, so that a link to a section works in both places.
type anchors struct{ used []string }

// Generate returns the id of a heading: lower case, letters, digits, _ and -, and - for each space.
func (a *anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := anchor(string(heading))
	unique := id
	for n := 1; slices.Contains(a.used, unique); n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	a.used = append(a.used, unique)
	return []byte(unique)
}

// Put does nothing: no heading states its own id.
func (a *anchors) Put([]byte) {}

var _ parser.IDs = (*anchors)(nil)

// A group is a heading of the menu with its links.
type group struct {
	Heading string
	Links   []menuLink
}

// A menuLink leads to a page, or to a section of one.
type menuLink struct{ Text, To string }

// menuOf returns the menu: the headings of the second level of p, each with the links below it.
func (s *Site) menuOf(md goldmark.Markdown, p *page) (menu []group) {
	doc := md.Parser().Parse(text.NewReader(p.source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			menu = append(menu, group{Heading: plainText(h, p.source)})
			continue
		}
		_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if link, ok := n.(*ast.Link); ok && entering && len(menu) > 0 {
				in := &menu[len(menu)-1]
				in.Links = append(in.Links, menuLink{Text: capitalize(plainText(link, p.source)), To: string(link.Destination)})
			}
			return ast.WalkContinue, nil
		})
	}
	return menu
}

// capitalize returns s with a capital first letter. The lists of README.md have links within sentences.
func capitalize(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// Markdown returns the source of a page, such as "policy.md" or "policy", or of one section of it, "policy#tests".
//
// The error for an unknown page or section names the nearest ones.
func (s *Site) Markdown(name string) ([]byte, error) {
	name, at, _ := strings.Cut(strings.TrimPrefix(name, "docs/"), "#")
	p := s.pages[name]
	if p == nil {
		p = s.pages[name+".md"]
	}
	if p == nil {
		var names []string
		for known := range s.pages {
			names = append(names, strings.TrimSuffix(known, ".md"))
		}
		slices.Sort(names)
		return nil, fmt.Errorf("no page %q%s", name, problem.DidYouMean(problem.Nearest(strings.TrimSuffix(name, ".md"), names, 3)))
	}
	if at == "" {
		return p.source, nil
	}
	var ids []string
	for i, sec := range p.sections {
		if sec.Anchor == at {
			return p.source[sec.start:p.endOf(i)], nil
		}
		ids = append(ids, sec.Anchor)
	}
	return nil, fmt.Errorf("no section %q in %s%s", at, p.name, problem.DidYouMean(problem.Nearest(at, ids, 3)))
}

// endOf returns where section i of the page ends, with the sections below it.
func (p *page) endOf(i int) int {
	for _, next := range p.sections[i+1:] {
		if next.level <= p.sections[i].level {
			return next.start
		}
	}
	return len(p.source)
}

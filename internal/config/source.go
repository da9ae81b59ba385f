package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// An APISource is an HTTP API.
type APISource struct {
	Document   string         // the path or https URL of the OpenAPI document. "" means the document of a pack
	BaseURL    string         // prefix of the document's paths. Calls are sent only to its host and to Servers
	Credential *APICredential // nil for an API without authentication, or with Credentials
	Timeout    time.Duration
	Packs      []APIPack
	Site       string // start of links in tools of packs. "" means BaseURL
	PlainHTTP  bool   // credentials may be sent over http to other machines
	Underscore bool   // names of pack tools consist only of letters, digits and _

	Credentials []SchemeCredential // by security scheme of the document, instead of Credential
	Headers     []FixedHeader      // for every request
	TLS         *APITLS            // nil for connections without a certificate, which trust the system's authorities
	Servers     []APIServer        // further addresses in the document to which calls may be sent
	Downloads   []string           // hosts to which reads may be redirected
}

// An APIPack is a set of operation tools. It is bundled or a folder of files.
type APIPack struct {
	Name   string // the name of a bundled pack, or "" for a folder
	Folder string
}

// Document is a document that was read, with its packs.
type Document struct {
	Document *spec.Document // nil for a document at a URL
	Digest   string         // of the document's bytes
	Packs    []*pack.Pack   // in the order of APISource.Packs
}

// Odd returns the unusable parts of the document, as texts that follow "the document". It lists at most fifty
// unreadable files and at most five other places. Then it returns the number of the others, because an invalid
// document has many.
func (c *Document) Odd() []string {
	if c.Document == nil {
		return nil
	}
	left := map[bool]int{true: 50, false: 5} // remaining files, and remaining other places
	more := 0
	var out []string
	for _, w := range c.Document.Warnings {
		if left[w.File]--; left[w.File] < 0 {
			more++
			continue
		}
		out = append(out, fmt.Sprintf(": %s", w))
	}
	if more > 0 {
		out = append(out, fmt.Sprintf(" is odd in further places: %d", more))
	}
	return out
}

// Remote reports whether the document is at a URL.
func (s *APISource) Remote() bool {
	return strings.HasPrefix(s.Document, "https://") || Loopback(s.Document)
}

// Loopback reports whether a URL is an http URL on this machine, where no network can read or alter requests.
func Loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// Shape returns the shape of the section openapi of a source. A document that is a file is read into contents.
func (s *APISource) Shape(contents *Document) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "document", Doc: "The OpenAPI document, 3.0, 3.1 or Swagger 2.0: a file, whose relative path starts at this file's folder, or a URL by https (http on this machine), which is read when the configuration is loaded. The files that it refers to are in its folder or on its host. Not needed where a pack brings one", Shape: s.document(contents)},
		{Name: "base_url", Doc: "What the paths of the document begin with: https://app.example/api. No call leaves its host", Must: true, Shape: yamlconf.Text("a URL", func(t string) string { s.BaseURL = strings.TrimSuffix(t, "/"); return baseURL(t) })},
		{Name: "credential", Doc: "Who the gateway is to the API. The token that an agent comes with is never passed on", Shape: yamlconf.MaskExcerpts(credentialShape(&s.Credential, true))},
		{Name: "credentials", Doc: "Several credentials, by the names of the document's security schemes. An operation is called with those of the first alternative in its security that are all here, and with none where it requires none", Shape: credentialsShape(&s.Credentials, true)},
		{Name: "headers", Doc: "Headers of every request: {X-Org: acme}. Agents can't set them. One that is called like a credential (X-App-Key), or whose value is ${…} or file:, is masked in answers", Shape: headersShape(&s.Headers)},
		{Name: "tls", Doc: "Files of TLS connections to base_url: the gateway's own certificate, and the authorities to trust. Files that change are read again for the next connection", Shape: tlsShape(&s.TLS)},
		{Name: "servers", Doc: "Further addresses at which the document serves operations (the servers of a path or an operation), each with its own credential. Calls of operations at other addresses are refused", Shape: serversShape(&s.Servers)},
		{Name: "downloads", Doc: "Hosts of files, such as files.example or *.s3.amazonaws.com: a read that the API redirects there is followed, without the credential", Shape: yamlconf.List(&s.Downloads, "hosts", downloadHost)},
		{Name: "timeout", Doc: "Of one request. Default 30s", Shape: yamlconf.Span(&s.Timeout, time.Second, 5*time.Minute)},
		{Name: "plain_http", Doc: "Let the credential be sent over http:// to another machine: who sees the network sees it. Default false", Shape: yamlconf.Flag(&s.PlainHTTP)},
		{Name: "packs", Doc: "Tools over single operations: names of bundled packs, or folders such as ./packs", Shape: s.packs(contents)},
		{Name: "site", Doc: "Where people open the application: links of tools in packs begin with it. Default base_url", Shape: yamlconf.Text("a URL", func(t string) string { s.Site = strings.TrimSuffix(t, "/"); return baseURL(t) })},
		{Name: "names", Doc: "Of tools in packs: dots (the default: platform.list-teams), or underscore for clients that take no dots (platform_list_teams)", Shape: yamlconf.Choose([]string{"dots", "underscore"}, func(t string) { s.Underscore = t == "underscore" })},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		if !r.HasAt(at + "/document") {
			s.documentOfPack(contents, r, n, at)
		}
		oneOfCredentials(r, n, at)
		if s.TLS != nil && strings.HasPrefix(s.BaseURL, "http://") {
			r.WrongAt(at+"/tls", "goes with a base_url that begins with https://")
		}
		s.checkPlain(r, at)
	})
}

// checkPlain refuses credentials over http to another machine, unless the configuration allows them.
func (s *APISource) checkPlain(r *yamlconf.Reader, at string) {
	if s.PlainHTTP {
		return
	}
	secret := s.HasCredential() || slices.ContainsFunc(s.Headers, func(h FixedHeader) bool { return h.Secret })
	if secret && plain(s.BaseURL) {
		r.WrongAt(at+"/base_url", "base_url"+whyPlain)
		return
	}
	if s.Credential != nil {
		s.Credential.checkPlain(r, at+"/credential")
	}
	for _, c := range s.Credentials {
		c.Credential.checkPlain(r, at+yamlconf.Join("credentials", c.Scheme))
	}
	for _, server := range s.Servers {
		below := at + yamlconf.Join("servers", server.URL)
		if plain(server.URL) && (server.Credential != nil || server.Credentials != nil) {
			r.WrongAt(below, "the server"+whyPlain)
		}
		if server.Credential != nil {
			server.Credential.checkPlain(r, below+"/credential")
		}
		for _, c := range server.Credentials {
			c.Credential.checkPlain(r, below+yamlconf.Join("credentials", c.Scheme))
		}
	}
}

// plain reports whether others in the network can read requests to an address.
func plain(address string) bool { return strings.HasPrefix(address, "http://") && !Loopback(address) }

const whyPlain = " would send the credential over http, where the network can read it: use https://, or write plain_http: true"

// checkPlain refuses token URLs that would send the secrets of the credential over http. The argument at is the
// pointer of the credential.
func (c *APICredential) checkPlain(r *yamlconf.Reader, at string) {
	switch {
	case c.OAuth != nil && plain(c.OAuth.TokenURL):
		r.WrongAt(at+"/oauth/token_url", "token_url"+whyPlain)
	case c.Person != nil:
		addresses := map[string]string{"authorize_url": c.Person.AuthorizeURL, "token_url": c.Person.TokenURL}
		if c.Person.Exchange != nil {
			addresses["exchange/token_url"] = c.Person.Exchange.TokenURL
		}
		for key, address := range addresses {
			if plain(address) {
				r.WrongAt(at+"/person/"+key, key+whyPlain)
			}
		}
	}
}

// documentOfPack uses the document of the first pack that has one.
func (s *APISource) documentOfPack(contents *Document, r *yamlconf.Reader, n yamlconf.Node, at string) {
	i := slices.IndexFunc(contents.Packs, func(p *pack.Pack) bool { return p.Document != nil })
	switch {
	case i >= 0:
		document := contents.Packs[i].Document
		read, err := ReadDocument(bytes.NewReader(document), int64(len(document)), nil)
		if err != nil {
			r.WrongAt(at+"/packs", contents.Packs[i].Name+": "+err.Error())
			return
		}
		contents.Document, contents.Digest = read.Document, read.Digest
	case len(contents.Packs) == len(s.Packs): // otherwise a fault of a pack has been reported
		r.Wrong(n.Start(), at, "needs the key document, or a pack that brings one")
	}
}

// document returns the shape of the path or URL of a document. A file is read into contents.
func (s *APISource) document(contents *Document) yamlconf.Shape {
	what := "a file or an https URL"
	plain := yamlconf.Text(what, nil)
	return yamlconf.Shape{Schema: plain.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		yamlconf.Text(what, func(t string) string {
			scheme, _, _ := strings.Cut(t, "://")
			switch {
			case strings.HasPrefix(t, "https://") || Loopback(t):
				s.Document = t
				return documentURL(t)
			case scheme != t:
				return "must be a file, or a URL that begins with https://. http:// only on this machine (127.0.0.1, localhost)"
			case strings.HasPrefix(t, "~"):
				return "~ is not expanded. Write ${HOME} for it"
			}
			if s.Document = t; !filepath.IsAbs(t) {
				s.Document = filepath.Join(n.Folder(), t)
			}
			var read Document
			var wrong error
			err := r.Stream(n, t, func(f io.Reader, size int64) error {
				read, wrong = ReadDocument(f, size, OpenInFolder(filepath.Dir(s.Document), func(file string) ([]byte, error) { return r.Large(n, file) }))
				return nil
			})
			if err != nil {
				return fmt.Sprintf("the document %s can't be read: %v", problem.Cut(t), err)
			}
			if wrong != nil {
				return wrong.Error()
			}
			contents.Document, contents.Digest = read.Document, read.Digest
			return ""
		}).Read(r, n, at)
	}}
}

// OpenInFolder returns an Opener of the files in a folder, including links that stay in it. The function read reads a
// file by its path. The Opener fails if the result differs from the file in the folder. This happens if a link that
// leads out of the folder replaces the file in the meantime.
func OpenInFolder(folder string, read func(file string) ([]byte, error)) spec.Opener {
	return func(name string) ([]byte, error) {
		name, err := spec.Folder(name)
		if err != nil {
			return nil, err
		}
		inside, err := within(folder, filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		text, err := read(filepath.Join(folder, filepath.FromSlash(name)))
		if err == nil && !bytes.Equal(text, inside) {
			return nil, errors.New("the file changed while it was read")
		}
		return text, err
	}
}

// within reads a file in a folder. It never reads a file outside the folder, even if a link replaces the file in the
// meantime.
func within(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, errors.New("there is no such folder")
	}
	defer root.Close() //nolint:errcheck // it was only read

	// The file is checked before it is opened, because opening a pipe would wait for a writer.
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("there is no such file in the document's folder")
	} else if info.Size() > yamlconf.MaxLarge {
		return nil, fmt.Errorf("the file has more than %d bytes", yamlconf.MaxLarge)
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return nil, errors.New("the file can't be read")
	}
	return text, nil
}

// ofOrigin returns an Opener of URLs with the document's origin. The function get fetches a URL.
func ofOrigin(document string, get func(url string) ([]byte, error)) spec.Opener {
	return func(name string) ([]byte, error) {
		to, err := spec.Origin(document, name)
		if err != nil {
			return nil, err
		}
		return get(to)
	}
}

// FetchDocument reads the document at a URL, and the files with the same origin to which it refers. The function get
// fetches a URL.
func FetchDocument(document string, get func(url string) ([]byte, error)) (Document, error) {
	data, err := get(document)
	if err != nil {
		return Document{}, err
	}
	return ReadDocument(bytes.NewReader(data), int64(len(data)), ofOrigin(document, get))
}

// ReadDocument reads a document of about size bytes. It opens the files to which the document refers with open. Its
// error is a message for operators.
func ReadDocument(from io.Reader, size int64, open spec.Opener) (Document, error) {
	sum := sha256.New()
	noted := open
	if open != nil {
		noted = func(name string) ([]byte, error) {
			b, err := open(name)
			sum.Write(b)
			return b, err
		}
	}
	d, err := spec.Read(io.TeeReader(from, sum), size, noted)
	if err != nil {
		p := problem.Of(err)
		return Document{}, fmt.Errorf("the document is not right: %s", strings.TrimSpace(p.Pointer+" "+p.Detail))
	}
	return Document{Document: d, Digest: hex.EncodeToString(sum.Sum(nil)[:16])}, nil
}

func documentURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return "must be a URL such as https://app.example/openapi.json, without user and password"
	}
	return ""
}

// baseURL returns the reason why a base URL is invalid, or "". The reason doesn't repeat the URL, which may contain a
// password.
func baseURL(s string) string {
	if _, err := edge.ParseURL(s); err != nil {
		return err.Error()
	}
	return ""
}

// downloadHost returns the reason why a host for downloads is invalid, or "".
func downloadHost(host string) string {
	name := strings.TrimPrefix(host, "*.")
	u, err := url.Parse("https://" + name)
	if err != nil || u.Host != name || strings.Contains(name, "*") || name != host && !strings.Contains(name, ".") {
		return "must be a host such as files.example, or *.files.example for those below it"
	}
	return ""
}

// packs returns the shape of a list of pack names and folders. The packs are read into contents.
func (s *APISource) packs(contents *Document) yamlconf.Shape {
	var texts []string
	inner := yamlconf.List(&texts, "packs", func(t string) string {
		if strings.HasPrefix(t, "~") {
			return "~ is not expanded. Write ${HOME} for it"
		}
		return ""
	})
	return yamlconf.Shape{Schema: inner.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		before := r.Count()
		if inner.Read(r, n, at); r.Count() > before {
			return
		}
		for i, t := range texts {
			of := APIPack{Name: t}
			if strings.ContainsAny(t, `./\`) {
				if of = (APIPack{Folder: t}); !filepath.IsAbs(t) {
					of.Folder = filepath.Join(n.Folder(), t)
				}
			}
			s.Packs = append(s.Packs, of)
			read, err := of.read(r, n)
			if err != nil {
				r.WrongAt(fmt.Sprintf("%s/%d", at, i), "the pack "+problem.Cut(t)+" is not right: "+err.Error())
				continue
			}
			contents.Packs = append(contents.Packs, read)
		}
		s.Packs = slices.Clip(s.Packs)
	}}
}

// read reads a pack. The node n names the pack.
func (p APIPack) read(r *yamlconf.Reader, n yamlconf.Node) (*pack.Pack, error) {
	if p.Folder == "" {
		return pack.BundledPack(p.Name)
	}
	files, err := r.Folder(n, p.Folder, pack.IsFile)
	if err != nil {
		return nil, err
	}
	return pack.Read(filepath.Base(p.Folder), files)
}

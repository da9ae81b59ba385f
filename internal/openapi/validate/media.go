package validate

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// texts are media types of text that can't be recognized by their name.
var texts = []string{"application/xml", "application/yaml", "application/x-yaml", "application/graphql", "application/javascript", "application/x-javascript", "application/ecmascript", "application/typescript", "application/csv",
	"application/x-csv", "application/sql", "application/toml", "application/x-toml", "application/x-sh", "application/x-httpd-php", "application/x-pem-file", "application/pem-certificate-chain", "application/pkix-cert+pem", "application/jwt", "application/jose",
	"application/sparql-query", "application/sparql-update", "application/n-triples", "application/n-quads", "application/trig", "application/sdp", "application/xml-dtd", "application/rtf", "application/x-tex", "application/x-latex", "application/edn",
	"application/markdown", "application/x-subrip", "application/hcl", "application/x-hcl", "application/ini", "application/x-properties", "application/mbox", "message/rfc822", "application/vnd.api+yaml", "application/openmetrics-text", "application/pgp-keys", "application/pgp-signature"}

// IsText reports whether agents give a body of the media type as text.
func IsText(mediaType string) bool {
	name := essence(mediaType)
	return strings.HasPrefix(name, "text/") || strings.HasSuffix(name, "+xml") || strings.HasSuffix(name, "+yaml") || strings.HasSuffix(name, "+text") || slices.Contains(texts, name) || IsLines(name)
}

// IsLines reports whether a media type contains several values, each on a line of JSON.
func IsLines(mediaType string) bool {
	return slices.Contains([]string{"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl", "application/jsonlines", "application/x-jsonlines", "application/json-lines", "application/json-seq", "application/x-json-stream"}, essence(mediaType))
}

// essence returns a media type in lower case, without its parameters.
func essence(mediaType string) string {
	name, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	return strings.TrimSpace(name)
}

// bytesOf are prefixes of media types whose bodies are not text.
var bytesOf = []string{"application/octet-stream", "application/zip", "application/gzip", "application/x-gzip", "application/x-tar", "application/pdf", "application/x-protobuf", "application/protobuf", "application/grpc", "application/msgpack",
	"application/x-msgpack", "application/cbor", "application/vnd.openxmlformats", "application/vnd.ms-", "application/msword", "application/wasm", "application/java-archive", "application/vnd.android", "application/x-7z", "application/x-bzip", "application/x-binary", "image/", "audio/", "video/", "font/", "model/"}

// binary reports whether a media type is binary.
func binary(mediaType string) bool {
	name := essence(mediaType)
	return !strings.HasSuffix(name, "+xml") && slices.ContainsFunc(bytesOf, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// textual reports whether the content is declared as text: a string without a binary format. It returns false for
// binary media types and ranges.
func (c *Checker) textual(content *spec.Content) bool {
	s := c.v.Schema(content.Schema)
	return !binary(content.MediaType) && !strings.Contains(content.MediaType, "*") && len(s.Types) == 1 && s.Types[0] == "string" && s.Format != "binary" && s.Format != "byte" && s.Format != "base64" &&
		s.Raw.Get("contentEncoding") == nil && s.Raw.Get("contentMediaType") == nil
}

// InBase64 reports whether a schema of OpenAPI 3.1 declares that bytes are sent as base64 instead of unencoded.
func InBase64(s spec.Schema) bool {
	return strings.EqualFold(s.Raw.Get("contentEncoding").Text(), "base64")
}

// lines checks each value of a JSON Lines body against the schema in the document. The schema is for one value or for
// the list of values.
func (c *Checker) lines(f *faults, content *spec.Content, key string, body value.Value) error {
	schema := content.Schema
	if s := c.v.Schema(schema); s.Items != nil {
		schema = s.Items
	}
	for i, one := range body.List() {
		at := fmt.Sprintf("/body/%d", i)
		c.names(f, []spec.Raw{schema}, one, at, 0)
		if s := c.v.Schema(schema); !(len(s.Types) == 1 && s.Types[0] == "string") {
			if err := c.against(f, key, schema, one, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// isFile reports whether a field of a multipart form is a file, by its schema or by the media types in which it is
// sent.
func (c *Checker) isFile(r spec.Raw, sent string) bool {
	s := c.v.Schema(r)
	if !s.Is("string") || len(s.Enum) > 0 {
		return false
	}
	if s.Format == "binary" || s.Format == "base64" || s.Raw.Get("contentMediaType") != nil && s.Format == "" {
		return true
	}
	return s.Format == "" && slices.ContainsFunc(strings.Split(sent, ","), binary)
}

func (c *Checker) isFiles(r spec.Raw, sent string) bool {
	s := c.v.Schema(r)
	return s.Items != nil && c.isFile(s.Items, sent)
}

// looksLikeFile reports whether a value has exactly the form of a file.
func looksLikeFile(v value.Value) bool {
	_, called := v.Get("name")
	_, holds := v.Get("content")
	return called && holds && !slices.ContainsFunc(v.Members(), func(m value.Member) bool { return m.Name != "name" && m.Name != "content" && m.Name != "type" })
}

// file checks a file: {name, content in base64, type}.
func (f *faults) file(v value.Value, at string) {
	if v.Kind() != value.Object {
		f.must(at, "a file", `be an object: {"name", "content" in base64, "type"}`, argcheck.Found(v))
		return
	}
	for _, m := range v.Members() {
		switch {
		case m.Name != "name" && m.Name != "content" && m.Name != "type":
			f.add(argcheck.UnknownName(at, "member of a file", m.Name, []string{"name", "content", "type"}))
		case m.Value.Kind() != value.String || m.Name != "content" && strings.ContainsAny(m.Value.Text(), "\r\n\x00"):
			f.must(at+"/"+m.Name, m.Name, "be a text of one line", "")
		case m.Name == "content":
			if _, err := base64.StdEncoding.DecodeString(m.Value.Text()); err != nil {
				f.must(at+"/content", "content", "be bytes in base64", "")
			}
		}
	}
	for _, name := range []string{"name", "content"} {
		if _, ok := v.Get(name); !ok {
			f.add(argcheck.Missing(at, "member", name))
		}
	}
}

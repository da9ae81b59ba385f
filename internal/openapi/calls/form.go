package calls

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/value"
)

// form encodes a body as application/x-www-form-urlencoded. If the document has no style for an object, form uses
// deepObject, which most servers expect.
func (o RequestOptions) form(content *spec.Content, v value.Value) ([]byte, error) {
	var pairs []string
	for _, m := range v.Members() {
		p := spec.Parameter{Name: m.Name, In: "query", Style: "form", Explode: true}
		if e, ok := content.Encoding[m.Name]; ok && e.Style != "" {
			p.Style, p.Explode = e.Style, e.Explode
		} else if ok && spec.IsJSON(e.ContentType) && e.ContentType != "" {
			p.MediaType = e.ContentType
		} else if m.Value.Kind() == value.Object {
			p.Style = "deepObject"
		}
		more, err := o.queryPairs(p, m.Value)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, more...)
	}
	return []byte(strings.ReplaceAll(strings.Join(pairs, "&"), "%20", "+")), nil
}

// parts encodes a multipart body and returns its media type. The boundary is derived from the values, so that the same
// arguments give the same bytes.
func parts(c validate.Checked, content *spec.Content, v value.Value) ([]byte, string, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	sum := sha256.Sum256(v.AppendJSON([]byte(content.MediaType)))
	if err := w.SetBoundary("bailiwick-" + hex.EncodeToString(sum[:16])); err != nil {
		return nil, "", fmt.Errorf("set the boundary: %w", err)
	}
	for _, m := range v.Members() {
		all := []value.Value{m.Value}
		if m.Value.Kind() == value.Array && !holdsArrays(m.Value) {
			all = m.Value.List()
		}
		for _, e := range all {
			if err := part(w, m.Name, e, content.Encoding[m.Name].ContentType, c); err != nil {
				return nil, "", err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", fmt.Errorf("end the parts: %w", err)
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

func holdsArrays(v value.Value) bool {
	for _, e := range v.List() {
		if e.Kind() == value.Array {
			return true
		}
	}
	return false
}

// part writes one part of a multipart form. It decodes a file from base64, unless the document requires base64. It
// writes an object or a list as JSON, and other values as text. It refuses line breaks in names and media types,
// because they would begin another header.
func part(w *multipart.Writer, name string, v value.Value, mediaType string, c validate.Checked) error {
	at := pointer("/body", name)
	head := textproto.MIMEHeader{}
	if !oneLine(name) || !oneLine(mediaType) {
		return refuse(at, "the name of a field is a text of one line")
	}
	disposition := `form-data; name="` + quote(name) + `"`
	var data []byte
	switch {
	case c.File(name):
		called, _ := v.Get("name")
		kind, _ := v.Get("type")
		text, _ := v.Get("content")
		var err error
		if data, err = base64.StdEncoding.DecodeString(text.Text()); err != nil || !oneLine(called.Text()+kind.Text()) {
			return refuse(at, "a file is {name, content in base64, type}")
		}
		if c.IsBase64(name) {
			data = []byte(text.Text())
			head.Set("Content-Transfer-Encoding", "base64")
		}
		disposition += `; filename="` + quote(called.Text()) + `"`
		if mediaType = kind.Text(); mediaType == "" {
			mediaType = "application/octet-stream"
		}
	case v.Kind() == value.Object || v.Kind() == value.Array:
		data = v.AppendJSON(nil)
		if mediaType == "" {
			mediaType = "application/json"
		}
	default:
		data = []byte(v.String())
	}
	head.Set("Content-Disposition", disposition)
	if mediaType != "" {
		mediaType, _, _ = strings.Cut(mediaType, ",")
		head.Set("Content-Type", strings.TrimSpace(mediaType))
	}
	p, err := w.CreatePart(head)
	if err == nil {
		_, err = p.Write(data)
	}
	if err != nil {
		return fmt.Errorf("write the part %s: %w", name, err)
	}
	return nil
}

// quote escapes a name for a quoted string in a header, in the same way as browsers.
func quote(s string) string {
	return strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A").Replace(s)
}

package spec

import "slices"

// collection maps a Swagger 2.0 collectionFormat to the style and explode of OpenAPI 3.
func collection(in, format string) (style string, explode bool) {
	if in != "query" {
		return "simple", false
	}
	switch format {
	case "multi":
		return "form", true
	case "ssv":
		return "spaceDelimited", false
	case "tsv":
		return "tabDelimited", false
	case "pipes":
		return "pipeDelimited", false
	}
	return "form", false
}

const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
	jsonType      = "application/json"
)

// body returns a Body made from the body and form parameters of Swagger 2.0, or nil if there are none.
func (in *input) body() *Body {
	switch {
	case in.whole != nil:
		types := in.consumes
		if len(types) == 0 {
			types = []string{jsonType}
		}
		out := &Body{Required: in.whole.Required, Description: in.whole.Description}
		for _, t := range types {
			out.Contents = append(out.Contents, Content{MediaType: t, Schema: in.whole.Schema, Example: in.whole.Example})
		}
		return out
	case len(in.form) == 0:
		return nil
	}
	// Form parameters become the schema of one object. A file parameter makes it a multipart form.
	mediaType := formType
	if slices.Contains(in.consumes, multipartType) {
		mediaType = multipartType
	}
	c := Content{Encoding: map[string]Encoding{}}
	schema, required := []byte(`{"type":"object","properties":{`), []byte{}
	for i, p := range in.form {
		name := p.Get("name").Text()
		if i > 0 {
			schema = append(schema, ',')
		}
		schema = append(appendJSONString(schema, name), ':')
		if p.Get("type").Text() == "file" {
			mediaType = multipartType
			schema = append(schema, `{"type":"string","format":"binary","description":`...)
			schema = append(appendJSONString(schema, p.Get("description").Text()), '}')
		} else {
			schema = append(schema, p...)
		}
		if p.Get("required").True() {
			if len(required) > 0 {
				required = append(required, ',')
			}
			required = appendJSONString(required, name)
		}
		style, explode := collection("query", p.Get("collectionFormat").Text())
		c.Encoding[name] = Encoding{Style: style, Explode: explode}
	}
	schema = append(append(append(schema, `},"required":[`...), required...), `]}`...)
	c.MediaType, c.Schema = mediaType, Raw(schema)
	return &Body{Required: len(required) > 0, Contents: []Content{c}}
}

// swaggerContents returns the contents of a Swagger 2.0 response.
func swaggerContents(v Raw, produces []string) []Content {
	schema := v.Get("schema")
	if schema == nil {
		return nil
	}
	if len(produces) == 0 {
		produces = []string{jsonType}
	}
	var out []Content
	for _, t := range produces {
		out = append(out, Content{MediaType: t, Schema: schema, Example: v.Get("examples").Get(t)})
	}
	return out
}

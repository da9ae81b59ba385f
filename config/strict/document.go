package strict

// A Document is where everything stands in what was read. The zero Document has no places.
type Document struct {
	top    *file
	places map[string]Position // where each key and element stands, by JSON pointer
}

// Place returns where the keys of path lead to: "classes", "tracker.issues". ok is false when the document has no such
// place; it is then that of the deepest key there is.
func (d Document) Place(path ...string) (p Position, ok bool) {
	at := Join(path...)
	if p, ok := d.places[at]; ok {
		return p, true
	}
	if len(d.places) == 0 {
		return Position{file: d.top}, false
	}
	return locate(d.places, at), false
}

// Wrong returns a fault at a place of the document, for what is found out after reading: path are the keys that lead
// there; where the document has no such place, the deepest one it has.
func (d Document) Wrong(message string, path ...string) Fault {
	p, _ := d.Place(path...)
	f := Fault{File: p.File(), Line: p.Line, Column: p.Column, Path: dotted(Join(path...)), Message: message}
	if p.Line > 0 {
		f.Excerpt = excerpt([]rune(starred(p.file.lines[p.Line-1])), p)
	}
	return f
}

package edge

import (
	"bufio"
	"bytes"
	"io"
)

// An Event is one event with data. Name is "" if the stream contains no name.
type Event struct {
	Name string
	Data []byte // the data lines, joined by line feeds. Valid until the next event
}

// ReadEvents calls each for every event of r until r ends or each fails. It also calls each for an event that is
// incomplete at the end of r. The argument most is the maximum size of a line and of the data of an event, in bytes.
func ReadEvents(r io.Reader, most int, each func(Event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, min(64<<10, most)), most)
	var e Event
	for lines.Scan() {
		field, rest, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		rest = bytes.TrimPrefix(rest, []byte(" "))
		switch {
		case string(field) == "event":
			e.Name = string(rest)
		case string(field) == "data":
			if len(e.Data)+len(rest) > most {
				return bufio.ErrTooLong
			}
			if e.Data != nil {
				e.Data = append(e.Data, '\n')
			}
			e.Data = append(e.Data, rest...)
		case len(lines.Bytes()) == 0:
			if err := flush(&e, each); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return flush(&e, each)
}

func flush(e *Event, each func(Event) error) error {
	done := *e
	*e = Event{}
	if done.Data == nil {
		return nil
	}
	return each(done)
}

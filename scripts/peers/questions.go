package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// An exchange is the number of tokens of 4 bytes that a model reads and writes in conversations of one question each.
type exchange struct {
	server    string
	tools     int // of the list of tools: names, descriptions and input schemas
	schema    int // of the schema: in the instructions, or a call and its answer
	questions int // of the calls and answers of all questions
	asked     int
}

// asks measures the questions in folder, NAME.sql and NAME.txt, and writes the table into a Markdown file, between the lines
// <!-- questions --> and <!-- /questions -->.
func asks(program, packages, folder, file string) error {
	ctx := context.Background()
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || files == nil {
		return errors.Join(fmt.Errorf("%s has no applications", folder), err)
	}
	var b strings.Builder
	b.WriteString("\n| application | questions | server | list of tools | schema | a question | in all | beside DBHub |\n|---|---:|---|---:|---:|---:|---:|---:|\n")
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		own, err := compareQuestions(ctx, program, packages, folder, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if own[1].asked == 0 {
			continue // its calls have no answers worked out by hand
		}
		other := own[1].all()
		for _, x := range own {
			fmt.Fprintf(&b, "| %s | %d | %s | %d | %d | %d | %d | %d %% |\n", name, x.asked, x.server, x.tools, x.schema, x.questions/x.asked, x.all(), 100*x.all()/other)
		}
	}
	fmt.Print(b.String())
	return replace(file, "questions", b.String()+"\n")
}

// all returns the tokens of a conversation of one question.
func (x exchange) all() int { return x.tools + x.schema + x.questions/x.asked }

// compareQuestions asks the questions of one application of Bailiwick and of DBHub: with the calls of test/agent, and with the statements that have
// the right answers.
func compareQuestions(ctx context.Context, program, packages, folder, name string) (out [2]exchange, err error) {
	calls, statements, err := questions(filepath.Join(folder, name+".txt"))
	if err != nil || statements == nil {
		return out, err
	}
	dir, err := os.MkdirTemp("", "questions")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, name+".db")
	ddl, err := os.ReadFile(filepath.Join(folder, name+".sql"))
	if err != nil {
		return out, err
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return out, err
	}
	_, err = db.ExecContext(ctx, string(ddl))
	if err = errors.Join(err, db.Close()); err != nil {
		return out, err
	}
	ours, bearer, err := gateway(program, dir, fmt.Sprintf("sources:\n  app: {url: %q}\npolicy: {unlisted: visible}\n", "sqlite:"+path))
	if err != nil {
		return out, err
	}
	defer ours.stop()
	if out[0], err = converse(ctx, ours, map[string]string{"Authorization": bearer, "Mcp-Protocol-Version": "2025-11-25"}, "", calls); err != nil {
		return out, err
	}
	port, err := free()
	if err != nil {
		return out, err
	}
	theirs, err := start("dbhub", port, exec.Command(filepath.Join(packages, "node_modules/.bin/dbhub"), "--transport", "http", "--port", fmt.Sprint(port), "--dsn", "sqlite://"+path), dir)
	if err != nil {
		return out, err
	}
	defer theirs.stop()
	out[1], err = converse(ctx, theirs, nil, `search_objects {"object_type":"table","detail_level":"full"}`, statements)
	out[0].asked, out[1].asked = len(statements), len(statements) // some questions take two calls
	return out, err
}

// questions returns the calls of the questions in a file, and calls of DBHub with the statements that have the right
// answers. It returns nil if the file has none.
func questions(path string) (calls, statements []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		switch kind, rest, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "=":
			body, err := json.Marshal(map[string]string{"sql": rest})
			if err != nil {
				return nil, nil, err
			}
			statements = append(statements, "execute_sql "+string(body))
		case ">":
			calls = append(calls, rest)
		}
	}
	return calls, statements, nil
}

// A dialogue is the session of a model with a server.
type dialogue struct {
	figure
	client  *http.Client
	session string
}

// result sends a request, and reads its result into v.
func (d *dialogue) result(ctx context.Context, body string, v any) (http.Header, error) {
	answer, header, err := d.ask(ctx, d.client, body, d.session)
	if err != nil {
		return nil, err
	}
	return header, json.Unmarshal(message(answer), &struct{ Result any }{v})
}

// call makes a call, "tool {arguments}", and returns the tokens of its arguments and of its answer.
func (d *dialogue) call(ctx context.Context, line string) (int, error) {
	tool, arguments, _ := strings.Cut(line, " ")
	var said struct{ Content []struct{ Text string } }
	if _, err := d.result(ctx, request(tool, arguments, ""), &said); err != nil {
		return 0, fmt.Errorf("%s: %w", line, err)
	}
	n := len(arguments)
	for _, c := range said.Content {
		n += len(c.Text)
	}
	return n / 4, nil
}

// converse counts what a model reads and writes. describe is the call for the schema, "" where it is in the instructions.
func converse(ctx context.Context, s *server, header map[string]string, describe string, calls []string) (exchange, error) {
	x := exchange{server: s.name}
	d := &dialogue{figure: figure{server: s, call: call{question: "a question", header: header}}, client: &http.Client{Timeout: time.Minute}}
	defer d.client.CloseIdleConnections()
	var about struct{ Instructions string }
	got, err := d.result(ctx, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"peers","version":"1"}}}`, &about)
	if err != nil {
		return x, err
	}
	d.session = got.Get("Mcp-Session-Id")
	var list struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
	}
	if _, err := d.result(ctx, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, &list); err != nil {
		return x, err
	}
	tools, err := json.Marshal(list.Tools)
	if err != nil {
		return x, err
	}
	x.tools, x.schema = len(tools)/4, len(about.Instructions)/4
	if describe != "" {
		if x.schema, err = d.call(ctx, describe); err != nil {
			return x, err
		}
	}
	for _, line := range calls {
		n, err := d.call(ctx, line)
		if err != nil {
			return x, err
		}
		x.questions += n
	}
	return x, nil
}

// message returns the JSON of an answer, which may be an event.
func message(answer []byte) []byte {
	for line := range bytes.Lines(answer) {
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			answer = bytes.TrimSpace(rest)
		}
	}
	return answer
}

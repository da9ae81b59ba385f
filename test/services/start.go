package services

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
)

// servers is a running "scripts/services hold". It stops its servers at the end of its standard input, which the kernel
// closes however this process ends.
type servers struct {
	hold    *osexec.Cmd
	stdin   io.Closer
	stderr  *os.File // in a folder that the script removes, so it is read through this handle
	exports map[string]string
}

func start() (*servers, error) {
	script, err := inModule("scripts/services")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bailiwick-test-")
	if err != nil {
		return nil, err
	}
	s := &servers{exports: map[string]string{}}
	if s.stderr, err = os.Create(filepath.Join(dir, "stderr")); err != nil {
		return nil, err
	}
	s.hold = osexec.Command(script, "hold", dir)
	s.hold.Stderr = s.stderr // a file of its own: "go test" waits for every process that shares the test's
	s.hold.SysProcAttr = ownSession()
	stdout, err := s.hold.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.stdin, err = s.hold.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.hold.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if lines.Text() == "ready" {
			return s, nil
		}
		if name, url, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "="); ok {
			s.exports[name] = strings.Trim(url, "'")
		}
	}
	failed := s.hold.Wait()
	defer s.stderr.Close()
	return nil, fmt.Errorf("%s ended (%v)%s", script, failed, s.stderrText())
}

func (s *servers) stop() {
	s.stdin.Close()
	s.hold.Wait()
	s.stderr.Close()
}

// stderrText returns a colon and the text that the script has written to its standard error, or "".
func (s *servers) stderrText() string {
	out, _ := io.ReadAll(io.NewSectionReader(s.stderr, 0, 1<<20))
	if text := strings.TrimSpace(string(out)); text != "" {
		return ": " + text
	}
	return ""
}

// inModule returns the path of a file of the module above the working folder.
func inModule(name string) (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return filepath.Join(dir, name), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working folder")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

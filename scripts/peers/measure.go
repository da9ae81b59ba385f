package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A figure is the measurement of one question to one server.
type figure struct {
	server *server
	call   call

	rate, p50, p99, cpu []float64 // of each round: calls a second, milliseconds, and milliseconds of the server's processors a call
	resident            int       // MiB after the last round
	tokens              int       // of the answer, of 4 bytes
}

// measure asks for a while, by all callers at once, or by one for a question that takes the database's time.
func (f *figure) measure(ctx context.Context) error {
	n := callers
	if f.call.question == "group" {
		n = 1
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	session := ""
	if f.call.begin != "" {
		_, header, err := f.ask(ctx, client, f.call.begin, "")
		if err != nil {
			return err
		}
		session = header.Get("Mcp-Session-Id")
	}
	body := func(id int64) string {
		return strings.Replace(f.call.body, "%d", fmt.Sprint(id%(orders-100)+1), 1)
	}
	answer, _, err := f.ask(ctx, client, body(1), session)
	if err != nil {
		return err
	}
	f.tokens = len(answer) / 4
	var asked atomic.Int64
	var mu sync.Mutex
	var waits []time.Duration
	var failed error
	before, from := f.server.cpuTime(), time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			var own []time.Duration
			var err error
			for err == nil && time.Since(from) < lasts {
				at := time.Now()
				_, _, err = f.ask(ctx, client, body(asked.Add(7919)), session)
				own = append(own, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			waits, failed = append(waits, own...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	slices.Sort(waits)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	f.rate = append(f.rate, float64(len(waits))/time.Since(from).Seconds())
	f.p50, f.p99 = append(f.p50, ms(waits[len(waits)/2])), append(f.p99, ms(waits[len(waits)*99/100]))
	f.cpu = append(f.cpu, ms(f.server.cpuTime()-before)/float64(len(waits)))
	f.resident = f.server.resident()
	return nil
}

// ask sends one request, and fails unless it is answered with a result.
func (f *figure) ask(ctx context.Context, client *http.Client, body, session string) ([]byte, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.server.url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	for name, v := range f.call.header {
		r.Header.Set(name, v)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"result"`)) || bytes.Contains(answer, []byte(`"isError":true`))) {
		err = fmt.Errorf("%s, %s: %s: %.300s", f.server.name, f.call.question, res.Status, answer)
	}
	return answer, res.Header, err
}

// cpuTime returns the processor time of the server's process.
func (s *server) cpuTime() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	fields := strings.Fields(string(stat))
	if err != nil || len(fields) < 15 {
		return 0
	}
	user, _ := strconv.Atoi(fields[13])
	system, _ := strconv.Atoi(fields[14])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// resident returns the resident memory of the server's process in MiB.
func (s *server) resident() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kib / 1024
}

// sessions opens many sessions and says what memory the process takes: before, with a tenth of them, and with all.
func (s *server) sessions(ctx context.Context) (string, error) {
	i := slices.IndexFunc(s.calls, func(c call) bool { return c.begin != "" })
	if i < 0 {
		return "", errors.New("no protocol of the server has sessions")
	}
	f := &figure{server: s, call: s.calls[i]}
	client := &http.Client{Timeout: time.Minute}
	defer client.CloseIdleConnections()
	at := []int{s.resident()}
	opened := map[string]bool{}
	for n := 1; n <= sessions; n++ {
		_, header, err := f.ask(ctx, client, f.call.begin, "")
		if err != nil {
			return "", fmt.Errorf("session %d: %w", n, err)
		}
		opened[header.Get("Mcp-Session-Id")] = true
		if n == sessions/10 || n == sessions {
			at = append(at, s.resident())
		}
	}
	for id := range opened { // one of them, to see that it is open
		if _, _, err := f.ask(ctx, client, strings.Replace(f.call.body, "%d", "1", 1), id); err != nil {
			return "", err
		}
		break
	}
	return fmt.Sprintf("open sessions of %s: %d MiB before, %d with %d, %d with %d", s.name, at[0], at[1], sessions/10, at[2], len(opened)), nil
}

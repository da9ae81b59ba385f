package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestTelemetry checks the values of the telemetry sections, or their faults.
func TestTelemetry(t *testing.T) {
	type told struct {
		Telemetry config.Telemetry
		Metrics   config.Metrics
		Quiet     bool
		Calls     bool
	}
	for _, tt := range []struct {
		text  string
		want  told
		fault string
	}{
		{"", told{}, ""},
		{"telemetry: {}", told{Telemetry: config.Telemetry{Traces: true}}, ""},
		{"telemetry: {sample: 0}", told{Telemetry: config.Telemetry{Traces: true, Sample: -1}}, ""},
		{"telemetry: {sample: 1}", told{Telemetry: config.Telemetry{Traces: true, Sample: 1}}, ""},
		{"telemetry: {sample: 1.5}", told{}, "must be a number from 0 to 1, such as 0.1"},
		{"telemetry: {sample: often}", told{}, "must be a number from 0 to 1"},
		{"telemetry: {otlp: {endpoint: http://10.0.0.1:4318}}", told{}, "is on another machine and not encrypted. Write https://, or add insecure: true"},
		{"telemetry: {otlp: {endpoint: http://10.0.0.1:4318, insecure: true}}", told{Telemetry: config.Telemetry{Traces: true, OTLP: config.OTLP{Endpoint: "http://10.0.0.1:4318", Insecure: true}}}, ""},
		{"telemetry: {otlp: {endpoint: http://user:swordfish@localhost}}", told{}, "Write a credential into headers"},
		{"telemetry: {otlp: {endpont: x}}", told{}, "endpoint"},
		{"server: {metrics: true}", told{Metrics: config.Metrics{Door: true}}, ""},
		{"server: {metrics: {listen: \"127.0.0.1:0\"}}", told{Metrics: config.Metrics{Listen: "127.0.0.1:0"}}, ""},
		{"server: {metrics: {listen: 9464}}", told{}, "host:port"},
		{"server: {metrics: {}}", told{}, "listen"},
		{"log: {calls: false}", told{Quiet: true}, ""},
		{"log: {calls: true}", told{Calls: true}, ""},
		{"audit: {key: c3dvcmRmaXNo}", told{}, "audit.key: must be 32 bytes in base64, as `openssl rand -base64 32` prints them"},
		{"audit: {key: no base64}", told{}, "audit.key: must be 32 bytes in base64"},
		{"audit: {durability: often}", told{}, "audit.durability: must be each"},
		{"audit: {durability: {interval: 2s}}", told{}, "audit.durability.interval: must be"},
		{"store: postgres://u:p@h/d\naudit: {durability: {interval: 50ms}}", told{}, "each record is committed"},
	} {
		c, err := config.Parse("f.yaml", []byte("sources: {app: {url: \"sqlite:app.db\"}}\n"+tt.text+"\n"), env)
		if tt.fault != "" {
			var e *config.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.fault) || strings.Contains(err.Error(), "swordfish") {
				t.Errorf("%s: %v, want %q", tt.text, err, tt.fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if d := cmp.Diff(tt.want, told{c.Telemetry, c.Server.Metrics, c.Log.Quiet, c.Log.Calls}); d != "" {
			t.Errorf("%s: %s", tt.text, d)
		}
	}
}

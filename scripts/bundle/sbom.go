package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"runtime/debug"
)

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
	Ref     string `json:"bom-ref"`
}

// writeSBOM prints the bill of materials of a Go program, as CycloneDX 1.5 in JSON: the modules that it was built from, as the
// program itself lists them.
func writeSBOM(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	components := []component{{Type: "platform", Name: "go", Version: info.GoVersion, Ref: "go@" + info.GoVersion}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, library("library", m))
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	return out.Encode(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": library("application", &info.Main)},
		"components": components})
}

func library(kind string, m *debug.Module) component {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	return component{Type: kind, Name: m.Path, Version: m.Version, PURL: purl, Ref: purl}
}

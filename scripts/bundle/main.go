// Command bundle makes desktop bundles (.mcpb) of the programs of a release, which Claude Desktop and others install by
// a double click. It also makes server.json, which describes them to the MCP registry. It prints bills of materials
// too.
//
//	go run ./scripts/bundle v0.1.0 dist
//	go run ./scripts/bundle sbom PROGRAM
//
// The same programs give the same bytes.
package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	home        = "https://github.com/bailiwick-dev/bailiwick"
	description = "An application's databases and HTTP APIs as views that your rules compute; people approve writes."
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: bundle VERSION DIR, or bundle sbom PROGRAM")
		os.Exit(2)
	}
	run := release
	if os.Args[1] == "sbom" {
		run = func(_, program string) error { return writeSBOM(program) }
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// release writes a bundle beside each program of dir, and server.json, which names them all.
func release(version, dir string) error {
	programs, err := filepath.Glob(filepath.Join(dir, "bailiwick-"+version+"-*"))
	if err != nil {
		return err
	}
	var packages []map[string]any
	for _, program := range programs {
		name := strings.TrimSuffix(filepath.Base(program), ".exe")
		target := strings.Split(strings.TrimPrefix(name, "bailiwick-"+version+"-"), "-")
		if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".mcpb") || len(target) != 2 {
			continue
		}
		sum, err := bundle(program, filepath.Join(dir, name+".mcpb"), target[0], strings.TrimPrefix(version, "v"))
		if err != nil {
			return err
		}
		packages = append(packages, map[string]any{"registryType": "mcpb", "identifier": home + "/releases/download/" + version + "/" + name + ".mcpb",
			"fileSha256": sum, "transport": map[string]string{"type": "stdio"}})
		fmt.Println("bundled " + name + ".mcpb")
	}
	if packages == nil {
		return fmt.Errorf("%s holds no program bailiwick-%s-OS-ARCH", dir, version)
	}
	return writeJSON(filepath.Join(dir, "server.json"), map[string]any{
		"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":    "io.github.bailiwick-dev/bailiwick", "title": "Bailiwick", "description": description, "version": strings.TrimPrefix(version, "v"),
		"repository": map[string]string{"url": home, "source": "github"}, "packages": packages})
}

// manifest describes a bundle for one operating system. The user names the configuration, whose stdio section says who asks.
func manifest(system, program, version string) map[string]any {
	platform := map[string]string{"windows": "win32"}[system]
	if platform == "" {
		platform = system
	}
	return map[string]any{
		"manifest_version": "0.3", "name": "bailiwick", "display_name": "Bailiwick", "version": version, "description": description,
		"author": map[string]string{"name": "The authors of Bailiwick", "url": home}, "homepage": home, "documentation": home + "/tree/main/docs",
		"repository": map[string]string{"type": "git", "url": home + ".git"},
		"server": map[string]any{"type": "binary", "entry_point": program, "mcp_config": map[string]any{
			"command": "${__dirname}/" + program, "args": []string{"serve", "--stdio", "--config", "${user_config.configuration}"}, "env": map[string]string{}}},
		"tools_generated": true, "prompts_generated": true, "compatibility": map[string]any{"platforms": []string{platform}},
		"user_config": map[string]any{"configuration": map[string]any{"type": "file", "title": "Configuration", "required": true,
			"description": "The bailiwick.yaml that \"bailiwick init\" wrote, with a line such as: stdio: {tenant: acme, scopes: [read]}"}},
	}
}

// bundle writes the bundle of one program and returns its SHA-256 in hex.
func bundle(program, path, system, version string) (sum string, err error) {
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	z := zip.NewWriter(io.MultiWriter(file, digest))
	inside := "server/bailiwick"
	if system == "windows" {
		inside += ".exe"
	}
	described, err := json.MarshalIndent(manifest(system, inside, version), "", "  ")
	if err == nil {
		err = add(z, "manifest.json", 0o644, strings.NewReader(string(described)+"\n"))
	}
	if err == nil {
		err = addFile(z, inside, program)
	}
	for _, closing := range []io.Closer{z, file} {
		if e := closing.Close(); err == nil {
			err = e
		}
	}
	return hex.EncodeToString(digest.Sum(nil)), err
}

func addFile(z *zip.Writer, name, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	return add(z, name, 0o755, from)
}

// add adds a file with the same date always.
func add(z *zip.Writer, name string, mode os.FileMode, from io.Reader) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.SetMode(mode)
	to, err := z.CreateHeader(h)
	if err == nil {
		_, err = io.Copy(to, from)
	}
	return err
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

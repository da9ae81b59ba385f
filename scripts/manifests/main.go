// Command manifests checks the files of examples/deploy/. It checks those for Kubernetes against the Go types of its
// API, where an unknown field is a fault. It checks that of Compose with Compose's own loader and schema, and the
// Dockerfile with the parser of BuildKit. It compares them with the promises of docs/deploying.md.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manifests FOLDER   (examples/deploy/)")
		os.Exit(2)
	}
	n, err := manifests(filepath.Join(os.Args[1], "kubernetes"))
	if err == nil {
		err = dockerfile(filepath.Join(os.Args[1], "container", "Dockerfile"))
	}
	if err == nil {
		err = composed(filepath.Join(os.Args[1], "compose", "compose.yaml"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
	fmt.Printf("%d objects, the Dockerfile and the Compose file are well-formed\n", n)
}

// manifests checks the objects in a folder, and returns how many there are.
func manifests(dir string) (int, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		if base := filepath.Base(name); base == "kustomization.yaml" || base == "bailiwick.yaml" {
			continue // Kustomize's, and Bailiwick's
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return n, err
		}
		for _, doc := range bytes.Split(text, []byte("\n---\n")) {
			if err := object(doc); err != nil {
				return n, fmt.Errorf("%s: %w", name, err)
			}
			n++
		}
	}
	if n < 6 {
		return n, fmt.Errorf("%s has %d objects", dir, n)
	}
	return n, nil
}

func object(doc []byte) error {
	var kind struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(doc, &kind); err != nil {
		return err
	}
	into, ok := map[string]any{"v1 Namespace": &core.Namespace{}, "v1 Service": &core.Service{}, "apps/v1 Deployment": &apps.Deployment{},
		"policy/v1 PodDisruptionBudget": &policy.PodDisruptionBudget{}, "networking.k8s.io/v1 Ingress": &networking.Ingress{},
		"networking.k8s.io/v1 NetworkPolicy": &networking.NetworkPolicy{}}[kind.APIVersion+" "+kind.Kind]
	if !ok {
		return fmt.Errorf("%s %s is not among the kinds that are checked", kind.APIVersion, kind.Kind)
	}
	if err := yaml.UnmarshalStrict(doc, into); err != nil {
		return err
	}
	if d, ok := into.(*apps.Deployment); ok {
		return deployment(d)
	}
	return nil
}

func deployment(d *apps.Deployment) error {
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	s := c.SecurityContext
	switch {
	case d.Spec.Replicas == nil || *d.Spec.Replicas < 2:
		return fmt.Errorf("there are fewer than two replicas")
	case s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation:
		return fmt.Errorf("the container can write its root, or gain privileges")
	case pod.SecurityContext == nil || pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot:
		return fmt.Errorf("the pod may run as root")
	case c.LivenessProbe == nil || c.ReadinessProbe == nil || !slices.Contains(c.ReadinessProbe.Exec.Command, "--ready"):
		return fmt.Errorf("a probe is missing")
	case pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken:
		return fmt.Errorf("the pod has a token for the API of Kubernetes")
	}
	return nil
}

// dockerfile checks that the image has no base, another user than root, and a health check.
func dockerfile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	tree, err := parser.Parse(f)
	if err != nil {
		return err
	}
	stages, _, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		return err
	}
	last := stages[len(stages)-1]
	found := map[string]string{}
	for _, c := range last.Commands {
		found[c.Name()] = fmt.Sprint(c)
	}
	switch user := strings.Fields(found["USER"] + " "); {
	case last.BaseName != "scratch":
		return fmt.Errorf("%s: the base is %s", name, last.BaseName)
	case len(user) == 0 || found["HEALTHCHECK"] == "" || found["ENTRYPOINT"] == "":
		return fmt.Errorf("%s: USER, HEALTHCHECK or ENTRYPOINT is missing", name)
	case found["RUN"] != "" || found["ADD"] != "":
		return fmt.Errorf("%s: it runs or fetches something", name)
	}
	return nil
}

// composed checks that Compose's loader takes the file. The program must have a read-only root, no capabilities, a port
// only on this machine, and a store that is healthy before the program starts.
func composed(name string) error {
	options, err := cli.NewProjectOptions([]string{name}, cli.WithEnv([]string{"STORE_PASSWORD=secret", "APP_URL=postgres://reader@db/app"}))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s, ok := project.Services["bailiwick"]
	switch {
	case !ok:
		return fmt.Errorf("%s has no service bailiwick", name)
	case !s.ReadOnly || len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL":
		return fmt.Errorf("%s: the container can write its root, or has capabilities", name)
	case len(s.Ports) != 1 || s.Ports[0].HostIP != "127.0.0.1":
		return fmt.Errorf("%s: the port is open to other machines", name)
	case s.DependsOn["store"].Condition != types.ServiceConditionHealthy || project.Services["store"].HealthCheck == nil:
		return fmt.Errorf("%s: it doesn't wait for its store", name)
	}
	return nil
}

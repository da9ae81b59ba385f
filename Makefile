# Needs Go 1.26. Each target installs its other tools. On Debian, as root, test servers and a C compiler for the race
# detector come from apt. "make conformance" and "make clients" take theirs from npm.

# A clone that belongs to somebody else can't be asked for its version.
export GOFLAGS ?= -buildvcs=false

.PHONY: duckdb release image compose proxies manifests docs-test demo build test check check-full format vet staticcheck race docs docs-check bench bench-peers soak mutate conformance clients clients-short apis applications formats

demo: build ## an issue tracker, a token and a first conversation; then it serves until Ctrl-C
	@bin/bailiwick demo $(ARGS)

build:
	@scripts/build

test: ## all tests, on real databases
	@scripts/test

check: ## what every commit has to pass: format vet staticcheck docs-check, and the tests that need no server
	@scripts/check quick

check-full: ## what CI runs: all of check, on all platforms and modules, all tests, real clients and the official MCP suites
	@scripts/check full

# The compiler and vet collect their garbage less often: a seventh of the processor time of a compilation. The limit is for
# each process.
check check-full vet staticcheck docs-check: export GOGC ?= 400
check check-full vet staticcheck docs-check: export GOMEMLIMIT ?= 2GiB

format:
	@unformatted=$$(find . -name '*.go' -not -path './.*' -exec gofmt -l {} +); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi

vet: ## every package, behind every build tag, of every module here
	@scripts/vet

staticcheck:
	@go build -C scripts/tools -o ../../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	@GOGC=100 bin/staticcheck ./... # it takes no less with more

race: ## all tests under the race detector
	@scripts/race

docs: ## writes the generated pages of docs/
	@go run ./scripts/docs

docs-check:
	@go run ./scripts/docs -check

docs-test: ## plays the README and the guides, every command and every expected line, as "make check-full" does among all tests
	@go test -count=1 ./test/guides

bench: ## writes the figures of docs/benchmarks.md
	@scripts/bench

bench-peers: ## Bailiwick beside MCP Toolbox and DBHub of npm, into docs/benchmarks.md
	@scripts/bench-peers

# How many pairs, and random queries, the long forms of the proofs take.
SOAK ?= 1000000

# How often processes that write to a store are killed.
KILLS ?= 10000

soak: apis ## the long forms of the proofs
	@BAILIWICK_SOAK=$(SOAK) GOTESTFLAGS="-count=1 -timeout=24h -run=Interference|Differential|Killed" scripts/test ./test/endtoend ./source/... ./internal/sqldriver/...
	@BAILIWICK_DERIVED=10000 GOTESTFLAGS="-count=1 -timeout=24h -run=TestDerivedCanaries" scripts/test ./test/endtoend
	@BAILIWICK_KILLS=$(KILLS) GOTESTFLAGS="-count=1 -timeout=24h -run=TestKill" scripts/test ./store/... ./internal/store
	@BAILIWICK_KILLS=$(KILLS) GOTESTFLAGS="-count=1 -timeout=24h -run=TestDecisionsKilled" scripts/test ./test/endtoend
	@BAILIWICK_STRIPE=1 go test -count=1 -run=TestStripe -v ./test/largeapis
	@BAILIWICK_STORM=10000 go test -count=1 -timeout=1h -v -run=TestStorm ./cmd/bailiwick
	@go test -count=100 -parallel=48 -timeout=1h -run='TestHostile$$' ./internal/openapi/client
	@BAILIWICK_REPLICAS=1 GOTESTFLAGS="-count=1 -timeout=1h -v -run=TestReplicasUnderLoad" scripts/test ./test/bench
	@BAILIWICK_GROWTH=$(CURDIR)/docs/limits.md go test -count=1 -timeout=1h -v -run=TestGrowth ./test/bench
	@BAILIWICK_CALLS=10000000 go test -count=1 -timeout=12h -v -run=TestCallsWithoutGrowth ./test/bench
	@BAILIWICK_RESIDENT=1 GOTESTFLAGS="-count=1 -timeout=1h -v -run=TestResident" scripts/test ./test/bench

# The tests of sqlgen show its statements, and so its mistakes. The tests of policy and those of the security property
# show the mistakes of policy.
mutate: ## breaks policy, sqlgen, change, identity, mask and redact in many small ways, and lists those that no test notices
	@go run ./scripts/mutate identity internal/oidc internal/secretnames internal/expression
	@go run ./scripts/mutate internal/plan internal/redact internal/writes change
	@go run ./scripts/mutate internal/openapi/calls
	@go run ./scripts/mutate -tests internal/sqldriver internal/sqlgen
	@go run ./scripts/mutate -tests internal/sqlgen,internal/sqldriver -files apart.go,apply.go,condition.go,dialect.go,first.go,group.go,number.go,point.go,search.go,wide.go source/sqlite
	@go run ./scripts/mutate -tests source/postgres:TestTexts,source/mariadb:TestTexts,internal/sqlgen -files apply.go,condition.go,convert.go,date.go,dialect.go,encoded.go,found.go,group.go,json.go,node.go,number.go,opaque.go,pattern.go,point.go,search.go,sets.go,text.go,zone.go source/postgres source/mariadb
	@BAILIWICK_SOAK=4000 go run ./scripts/mutate -tests 'tool,source/memory,internal/tools,internal/policyops,test/agent,test/endtoend:(Interference|InterferencePolicies)SQLite' policy

conformance: ## the official MCP suites
	@scripts/conformance

clients: ## real clients of npm and Go against the program, over HTTP and stdio
	@scripts/clients/run

clients-short:
	@scripts/clients/run short

apis: ## what is told of the largest public APIs; their documents come from npm
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && exports=$$(scripts/apis "$$dir") && eval "$$exports" && \
	go test -count=1 -v -timeout=1h ./test/largeapis

applications: ## what init knows of Directus, Strapi, Ghost and Parse Server, against what their own migrations make, and changes of a live Directus; they come from npm
	@dir=$$(mktemp -d) && exports=$$(BAILIWICK_SERVICES="postgres mariadb" scripts/services up "$$dir") && eval "$$exports" && \
	code=0; scripts/applications/run || code=1; scripts/services down "$$dir"; rm -rf "$$dir"; exit $$code

formats: ## what the assistant sends to model providers, against the types that they publish on npm
	@scripts/formats

# DuckDB is a module of its own: its driver needs a C compiler, and its library is 60 MB.
duckdb: ## the source for DuckDB and folders of Parquet, CSV and JSON files: its tests, and bin/bailiwick-duckdb
	@scripts/duckdb

release: ## the programs of a tagged commit for six platforms, with checksums and bills of materials, into dist/
	@scripts/release

image: ## the container image, with docker, podman or buildah
	@scripts/image

proxies: ## examples/deploy/caddy and examples/deploy/nginx in front of a gateway, over TLS, where the programs are
	@scripts/proxies

compose: ## examples/deploy/compose, started and tried, where Docker Compose is
	@scripts/compose

manifests: ## examples/deploy/kubernetes and examples/deploy/compose against the types and schemas of their programs, and the Dockerfile
	@go run -C scripts/manifests . "$(CURDIR)/examples/deploy"

// Package operations holds tests of the built program in production: behind real proxies, and while it restarts.
package operations

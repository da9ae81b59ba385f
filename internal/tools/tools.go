// Package tools implements the tools for changes, packs, HTTP APIs and metadata sources.
//
//	ChangeTools: arguments ─Propose→ change in review → Result for the agent
//	APITools, packs: arguments ─View, validate→ read, or a write for ChangeTools to propose
//
// A tool receives a bailiwick.Call with the gateway and the principal. It never receives a source. Package tool
// implements the tools for records. Package pack compiles the tools that packs declare, and PackTools offers them to
// agents.
//
// ChangeTools contains the tools that propose writes, show the agent's own changes and call declared actions. Packs
// and APIs use it to format their changes, so agents see all changes in the same form. DescribeTools returns the
// tools for objects of metadata sources.
package tools

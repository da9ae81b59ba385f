// Package tools holds the tools of the gateway for changes, packs, HTTP APIs, and descriptions without records.
//
//	ChangeTools: arguments ─Propose→ change in review → Result for the agent
//	APITools, packs: arguments ─View, validate→ read, or a write for ChangeTools to propose
//
// A tool gets a bailiwick.Call, which holds the gateway and the principal, and never a source. Package tool has the
// tools over records. Package pack compiles the tools that packs declare, and NewPackTools offers them to agents.
//
// ChangeTools propose writes, follow the agent's own changes, and offer the declared actions. The tools of packs and
// APIs answer through them, so agents see all changes in the same form. DescribeTools returns the tools for objects of
// metadata sources.
package tools

// Package agentcmd implements the commands that act like an agent.
//
//	call, sql, schema, tools, prompts, resources   one request
//	export                                         all records of a class, without a limit
//	shell                                          a person calls tools by hand
//	ask, chat                                      a model calls them
//	eval                                           questions with known answers
//
// Each command connects to the gateway that its flags select. The gateway is already running, or is created in this
// process. Output for people uses line editing, streamed Markdown, tables and a spinner.
package agentcmd

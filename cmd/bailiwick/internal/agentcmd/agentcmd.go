// Package agentcmd implements the commands that act as an agent does.
//
//	call, sql, schema, tools, prompts, resources   one request
//	export                                         all records of a class, without a limit
//	shell                                          a person calls tools by hand
//	ask, chat                                      a model calls them
//	eval                                           questions with known answers
//
// Each dials a gateway that its flags name: a running one, or one created in this process. Output for a person goes
// through the screen: line editing, streamed Markdown, tables and a spinner.
package agentcmd

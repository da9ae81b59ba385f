// @langchain/mcp-adapters: what a model is handed is the content of the tool message.
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { converse, env, signal, stdio } from './conversation.mjs'

const { stderr, ...local } = stdio()
for (const [transport, server] of Object.entries({
  HTTP: { transport: 'http', url: env.url, headers: { Authorization: `Bearer ${env.token}` } },
  stdio: { transport: 'stdio', stderr, ...local },
})) {
  const told = signal()
  let progress = signal()
  const client = new MultiServerMCPClient({
    mcpServers: { bailiwick: server },
    onToolsListChanged: told.fire,
    onProgress: () => progress.fire(),
  })
  const tools = Object.fromEntries((await client.getTools()).map((tool) => [tool.name, tool]))
  const invoke = (name, args, options) => tools[name].invoke({ type: 'tool_call', id: '1', name, args }, options)
  await converse(`@langchain/mcp-adapters ${transport}`, {
    knownToolsOnly: true, // a model's call of a tool that isn't listed ends in the framework
    checksArguments: true, // against the input schema, in words of its own
    list: async () => Object.keys(tools),
    call: async (name, args) => {
      try {
        const { content } = await invoke(name, args)
        return { text: typeof content === 'string' ? unwrap(content) : content.map((part) => part.text).join('\n') }
      } catch (err) {
        return { text: err.message, isError: true } // it makes an error of a refusal, whose message the agent hands on
      }
    },
    slow: (name, args) => {
      progress = signal()
      const end = new AbortController()
      const ended = invoke(name, args, { signal: end.signal })
      return { progress: Promise.race([progress.fired, ended]), ended, cancel: () => end.abort(new Error('enough')) }
    },
    resources: async () => (await client.listResources()).bailiwick.map((r) => r.uri),
    read: async (uri) => (await client.readResource('bailiwick', uri))[0].text,
    changed: () => told.fired,
    close: () => client.close(),
  })
}

// unwrap returns the text of a result: beside _meta and structured content it is a member of JSON.
function unwrap(content) {
  try {
    return JSON.parse(content).text ?? content
  } catch {
    return content
  }
}

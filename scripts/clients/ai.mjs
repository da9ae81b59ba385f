// @ai-sdk/mcp: what a model is handed is what toModelOutput makes of a result.
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as Stdio } from '@ai-sdk/mcp/mcp-stdio'
import { converse, env, stdio } from './conversation.mjs'

for (const [transport, make] of Object.entries({
  HTTP: () => ({ type: 'http', url: env.url, headers: { Authorization: `Bearer ${env.token}` } }),
  stdio: () => new Stdio(stdio()),
})) {
  const client = await createMCPClient({ transport: make() })
  const tools = await client.tools()
  await converse(`@ai-sdk/mcp ${transport}`, {
    knownToolsOnly: true,
    list: async () => Object.keys(tools),
    call: async (name, args) => {
      const output = await tools[name].execute(args, { toolCallId: '1', messages: [] })
      const shown = await tools[name].toModelOutput({ toolCallId: '1', input: args, output })
      return { text: shown.value.map((part) => part.text).join('\n'), isError: output.isError }
    },
    slow: (name, args) => {
      const end = new AbortController()
      const ended = tools[name].execute(args, { toolCallId: '1', messages: [], abortSignal: end.signal })
      return { ended, cancel: () => end.abort(new Error('enough')) } // it shows no progress
    },
    resources: async () => (await client.listResources()).resources.map((r) => r.uri),
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    prompts: async () => (await client.experimental_listPrompts()).prompts.map((p) => p.name),
    prompt: async (name) => (await client.experimental_getPrompt({ name })).messages[0].content.text,
    close: () => client.close(),
  })
}

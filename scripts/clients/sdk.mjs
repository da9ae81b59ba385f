// The two generations of the official SDK have one shape.
import { converse, env, signal, textOf } from './conversation.mjs'

// face is a connected client of either.
export function face(client, changed) {
  return {
    list: async () => (await client.listTools()).tools.map((t) => t.name),
    call: async (name, args) => {
      const result = await client.callTool({ name, arguments: args })
      return { text: textOf(result), isError: result.isError }
    },
    slow: (name, args) => {
      const { fired, fire } = signal()
      const end = new AbortController()
      const options = { signal: end.signal, onprogress: fire, timeout: 60_000 }
      const ended = client.sdk1
        ? client.callTool({ name, arguments: args }, undefined, options)
        : client.callTool({ name, arguments: args }, options)
      return { progress: Promise.race([fired, ended]), ended, cancel: () => end.abort(new Error('enough')) }
    },
    resources: async () => {
      await client.listResourceTemplates()
      return (await client.listResources()).resources.map((r) => r.uri)
    },
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    prompts: async () => (await client.listPrompts()).prompts.map((p) => p.name),
    prompt: async (name) => (await client.getPrompt({ name })).messages[0].content.text,
    changed,
    close: () => client.close(),
  }
}

export async function run(title, connect, transports) {
  for (const [transport, make] of Object.entries(transports)) await converse(`${title} ${transport}`, await connect(make()))
}

export const headers = { Authorization: `Bearer ${env.token}` }

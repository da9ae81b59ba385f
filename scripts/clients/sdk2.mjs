// @modelcontextprotocol/client 2.x, in the protocol of 2026-07-28.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { env, signal, stdio } from './conversation.mjs'
import { face, headers, run } from './sdk.mjs'

async function connect(transport) {
  const { fired, fire } = signal()
  const client = new Client({ name: 'sdk-2', version: '1' }, {
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    listChanged: { tools: { autoRefresh: false, onChanged: fire } },
  })
  await client.connect(transport)
  return face(client, () => fired)
}

await run('sdk 2.x', connect, {
  HTTP: () => new StreamableHTTPClientTransport(new URL(env.url), { requestInit: { headers } }),
  stdio: () => new StdioClientTransport(stdio()),
})

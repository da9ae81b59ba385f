// @modelcontextprotocol/sdk 1.x, and mcp-remote in front of it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { env, signal, stdio } from './conversation.mjs'
import { face, headers, run } from './sdk.mjs'

async function connect(transport) {
  const client = new Client({ name: 'sdk-1', version: '1' })
  client.sdk1 = true
  const { fired, fire } = signal()
  client.setNotificationHandler(ToolListChangedNotificationSchema, fire)
  await client.connect(transport)
  return face(client, () => fired)
}

const remote = process.env.MCP_REMOTE // mcp-remote's program, where it is to be in front
await run(remote ? 'mcp-remote' : 'sdk 1.x', connect, remote ? {
  'stdio to HTTP': () => new StdioClientTransport({
    command: process.execPath, stderr: 'ignore', args: [remote, env.url, '--allow-http', '--header', `Authorization: Bearer ${env.token}`],
    env: { ...process.env, MCP_REMOTE_CONFIG_DIR: env.folder },
  }),
} : {
  HTTP: () => new StreamableHTTPClientTransport(new URL(env.url), { requestInit: { headers } }),
  stdio: () => new StdioClientTransport(stdio()),
})

// The Inspector's command line: one process a request.
import { execFile } from 'node:child_process'
import { converse, env, textOf } from './conversation.mjs'

for (const [transport, where] of Object.entries({
  HTTP: [env.url, '--transport', 'http', '--header', `Authorization: Bearer ${env.token}`],
  stdio: [env.command, 'serve', '--stdio', '--tenant', 'acme', '--cwd', env.folder],
})) {
  const ask = (method, ...more) =>
    new Promise((resolve, reject) => {
      execFile(process.execPath, [process.env.INSPECTOR, '--cli', ...where, '--method', method, ...more], { maxBuffer: 1 << 26 }, (err, out, said) => {
        try {
          resolve(JSON.parse(out))
        } catch {
          reject(new Error(said || out || err?.message))
        }
      })
    })
  await converse(`inspector ${transport}`, {
    knownToolsOnly: true, // it looks in tools/list itself
    list: async () => (await ask('tools/list')).tools.map((t) => t.name),
    call: async (name, args) => {
      const given = Object.entries(args).flatMap(([k, v]) => ['--tool-arg', `${k}=${typeof v === 'string' ? v : JSON.stringify(v)}`])
      const result = await ask('tools/call', '--tool-name', name, ...given)
      return { text: textOf(result), isError: result.isError }
    },
    resources: async () => (await ask('resources/list')).resources.map((r) => r.uri),
    read: async (uri) => (await ask('resources/read', '--uri', uri)).contents[0].text,
    prompts: async () => (await ask('prompts/list')).prompts.map((p) => p.name),
    prompt: async (name) => (await ask('prompts/get', '--prompt-name', name)).messages[0].content.text,
    close: async () => {},
  })
}

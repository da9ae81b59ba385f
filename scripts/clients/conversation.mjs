// What every client does with the gateway of the demo. A face is one client over one transport; a method that it does not
// have is a thing that the client cannot do, and is printed as such.
import assert from 'node:assert/strict'
import { readFile, rename, writeFile } from 'node:fs/promises'

// slow joins all issues of a project with each other: it runs for minutes where nothing ends it.
const slow = {
  class_name: 'issues',
  pipeline: [
    { $lookup: { from: 'issues', localField: 'project_id', foreignField: 'project_id', as: 'other' } },
    { $unwind: '$other' },
    { $group: { _id: '$other.title', n: { $sum: 1 } } },
    { $sort: { n: -1 } },
    { $limit: 2 },
  ],
}

export const env = {
  url: process.env.URL, // of the gateway, ending in /mcp
  token: process.env.TOKEN,
  command: process.env.BAILIWICK, // the program
  folder: process.env.DEMO, // its configuration is there
}

// within fails what takes longer than a minute. Nothing here waits for a time to pass.
export async function within(what, promise) {
  let timer
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${what}: nothing within 60 s`)), 60_000)))
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

// converse goes through everything and prints one line.
export async function converse(name, face) {
  const did = []
  const step = async (what, can, run) => {
    if (!can) return did.push(`(no ${what})`)
    try {
      await within(what, run())
    } catch (err) {
      err.message = `${name}: ${what}: ${err.message}`
      throw err
    }
    did.push(what)
  }
  await step('list', face.list, async () => {
    const names = await face.list()
    for (const tool of ['get_schema', 'query_class', 'aggregate']) assert.ok(names.includes(tool), `${tool} is not in ${names}`)
  })
  let first
  await step('call', face.call, async () => {
    first = await face.call('query_class', { class_name: 'issues', limit: 2 })
    assert.match(first.text, /2 records, more: query_class \{/)
    assert.ok(!first.isError)
  })
  await step('refused', face.call, async () => {
    const wrong = await face.call('query_class', { class_name: 'issues', where: { staus: 'Done' } })
    assert.ok(wrong.isError)
    assert.match(wrong.text, /invalid_query: unknown field "staus".*\(at \/where\/staus\)/)
    assert.match(wrong.text, /status/)
    if (face.checksArguments) return
    const argument = await face.call('query_class', { clas_name: 'issues' })
    assert.ok(argument.isError)
    assert.match(argument.text, /unknown argument "clas_name". Did you mean class_name\?/)
  })
  await step('unknown tool', face.call && !face.knownToolsOnly, async () => {
    const unknown = await face.call('query_clas', {}).catch((err) => ({ isError: true, text: String(err.message) }))
    assert.ok(unknown.isError)
    assert.match(unknown.text, /Did you mean query_class\?/)
  })
  await step('page', face.call, async () => {
    const next = () => face.call('query_class', JSON.parse(first.text.match(/more: query_class (\{.*\})/)[1]))
    let second = await next()
    if (second.isError && /start again without a cursor/.test(second.text)) { // the client before has changed the rules just now
      first = await face.call('query_class', { class_name: 'issues', limit: 2 })
      second = await next()
    }
    assert.match(second.text, /2 records/)
    assert.notEqual(second.text.split('\n')[1], first.text.split('\n')[1])
  })
  await step('progress and cancel', face.slow, async () => {
    const { progress, ended, cancel } = face.slow('aggregate', slow)
    if (progress) await progress
    cancel()
    const end = await ended.then((r) => r, (err) => err)
    assert.ok(end instanceof Error, `a cancelled call gave ${JSON.stringify(end)}`)
  })
  await step('resources', face.resources, async () => {
    const uris = await face.resources()
    const uri = uris.find((u) => u.endsWith('/issues/schema'))
    assert.ok(uri, `no schema of issues in ${uris}`)
    assert.match(await face.read(uri), /status/)
  })
  await step('prompts', face.prompts, async () => {
    assert.ok((await face.prompts()).includes('conventions'))
    assert.match(await face.prompt('conventions'), /refusal/i)
  })
  await step('list_changed', face.changed, async () => {
    await face.ready?.()
    const told = face.changed()
    await toggle()
    await told
  })
  await face.close()
  console.log(`${name}: ${did.join(', ')}`)
}

// toggle changes which tools there are, in one step.
async function toggle() {
  const file = `${env.folder}/bailiwick.yaml`
  const text = await readFile(file, 'utf8')
  const next = text.includes('tool: true') ? text.replaceAll('tool: true', 'tool: false') : text.replaceAll('tool: false', 'tool: true')
  await writeFile(file + '.new', next, { mode: 0o600 })
  await rename(file + '.new', file)
}

// signal is a promise and what resolves it.
export function signal() {
  let fire
  const fired = new Promise((resolve) => (fire = resolve))
  return { fired, fire }
}

// textOf is what a model gets of a result's content.
export const textOf = (result) => result.content.map((part) => part.text ?? '').join('\n')

export const stdio = () => ({ command: env.command, args: ['serve', '--stdio', '--tenant', 'acme'], cwd: env.folder, stderr: 'ignore' })

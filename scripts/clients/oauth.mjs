// Both generations of the official SDK sign in by themselves: they are refused, find the authorization server, register, send
// the person to a page, redeem the code, renew what has ended, and are refused again once the person removes them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import * as two from '@modelcontextprotocol/client'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { env, textOf, within } from './conversation.mjs'

const origin = new URL(env.url).origin
const landing = 'http://127.0.0.1:4711/landing' // nothing listens there: the address of the answer is read from the redirect

// A browser keeps cookies, follows redirects of its site, and sends forms with the hidden fields of their page.
class Browser {
  cookies = new Map()

  async open(address, form) {
    for (;;) {
      const headers = { Cookie: [...this.cookies].map(([k, v]) => `${k}=${v}`).join('; '), 'Sec-Fetch-Site': 'same-origin' }
      const answer = await fetch(address, { method: form ? 'POST' : 'GET', body: form, headers, redirect: 'manual' })
      for (const c of answer.headers.getSetCookie()) {
        const [, name, value] = c.match(/^([^=]+)=([^;]*)/)
        this.cookies.set(name, value)
      }
      const to = answer.headers.get('location') && new URL(answer.headers.get('location'), address)
      if (!to || to.origin !== origin) return { status: answer.status, address: to ?? new URL(address), text: await answer.text() }
      address = to
      form = undefined
    }
  }

  async send(address, page, fields) {
    const form = new URLSearchParams(fields)
    for (const [, name, value] of page.text.matchAll(/type="hidden" name="(mark|request|link|next)" value="([^"]*)"/g)) {
      if (!form.has(name)) form.set(name, value.replaceAll('&amp;', '&').replaceAll('&#43;', '+').replaceAll('&#34;', '"'))
    }
    return this.open(address, form)
  }
}

async function person(name) {
  const said = execFileSync(env.command, ['people', 'invite', name, '--scopes', 'read,write,review', '--tenant', 'acme', '--url', origin], { cwd: env.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const browser = new Browser()
  const page = await browser.open(said.match(/http\S+link=\S+/)[0])
  assert.match((await browser.send(`${origin}/console/sign-in`, page)).text, new RegExp(name))
  return browser
}

// A keeper is what a client keeps between its visits, as its makers implement it.
function keeper(name, send) {
  const kept = {}
  return {
    kept,
    redirectUrl: landing,
    clientMetadata: { client_name: name, redirect_uris: [landing], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none', scope: 'read write' },
    state: () => (kept.state = crypto.randomUUID()),
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (to) => send(to),
    saveCodeVerifier: (v) => void (kept.verifier = v),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (found) => void (kept.found = found),
    discoveryState: () => kept.found,
    // Not the verifier: the client is asked for it after it was told to begin again.
    invalidateCredentials: (what) => void (['all', 'tokens'].includes(what) && (kept.tokens = undefined), what === 'all' && (kept.client = undefined)),
  }
}

async function signIn(name, { connect, transport, finish, refused }) {
  const browser = await person(`${name}@example.com`)
  let answer
  const auth = keeper(name, async (to) => {
    assert.equal(to.searchParams.get('code_challenge_method'), 'S256')
    assert.equal(to.searchParams.get('resource'), env.url)
    const page = await browser.open(to)
    assert.match(page.text, /Let an agent in\?/)
    answer = (await browser.send(`${origin}/console/allow`, page, { answer: 'allow', scope: 'read' })).address.searchParams
  })
  let at = transport(auth)
  await assert.rejects(connect(at), refused)
  assert.equal(answer.get('state'), auth.kept.state)
  assert.equal(answer.get('iss'), origin)
  await finish(at, answer)
  assert.equal(auth.kept.tokens.scope, 'read')
  const client = await connect((at = transport(auth)))
  const count = async (of = client) => textOf(await of.callTool({ name: 'count_objects', arguments: { class_name: 'issues' } }))
  assert.match(await count(), /^\d{4}$/) // the issues of the person's tenant
  const before = auth.kept.tokens
  auth.kept.tokens = { ...before, access_token: 'bwa_ended' }
  assert.match(await count(), /^\d{4}$/)
  assert.notEqual(auth.kept.tokens.access_token, before.access_token)
  assert.notEqual(auth.kept.tokens.refresh_token, before.refresh_token)

  const you = await browser.open(`${origin}/console/you`)
  assert.match(you.text, new RegExp(`<strong>${name}</strong>`))
  await browser.send(you.text.match(/action="([^"]*\/agents\/[^"]*)"/)[1].replace(/^/, origin), you)
  answer = undefined
  await assert.rejects(count(), refused)
  assert.ok(answer, 'the person is not asked again')
  await client.close().catch(() => {})
  console.log(`${name}: refused, registered, let in by a person, called, renewed, removed, asked again`)
}

await within('sdk 1.x', signIn('oauth-sdk-1', {
  transport: (authProvider) => new StreamableHTTPClientTransport(new URL(env.url), { authProvider }),
  connect: async (at) => {
    const client = new Client({ name: 'oauth-sdk-1', version: '1' })
    await client.connect(at)
    return client
  },
  finish: (at, answer) => at.finishAuth(answer.get('code')),
  refused: UnauthorizedError,
}))
await within('sdk 2.x', signIn('oauth-sdk-2', {
  transport: (authProvider) => new two.StreamableHTTPClientTransport(new URL(env.url), { authProvider }),
  connect: async (at) => {
    const client = new two.Client({ name: 'oauth-sdk-2', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(at)
    return client
  },
  finish: (at, answer) => at.finishAuth(answer),
  refused: two.UnauthorizedError,
}))

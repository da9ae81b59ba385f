// Has Parse Server make its tables in an empty PostgreSQL database: those of its start, and those that it makes when the first
// user signs up on the first device.
//
//   node parse.mjs URL
import { createServer } from 'node:http'
import express from 'express'
import { ParseServer } from 'parse-server'

const http = createServer()
await new Promise(done => http.listen(0, '127.0.0.1', done))
const url = `http://127.0.0.1:${http.address().port}/parse`
const server = new ParseServer({ databaseURI: process.argv[2], serverURL: url, appId: 'app', masterKey: 'master', silent: true, logsFolder: null, directAccess: false,
  idempotencyOptions: { paths: ['functions/.*'], ttl: 300 } })
await server.start()
http.on('request', express().use('/parse', server.app))
for (const [path, body] of [['users', { username: 'ana', password: 'a-password', email: 'ana@example.com' }], ['installations', { installationId: 'one', deviceType: 'ios', deviceToken: 'a-token' }]]) {
  const res = await fetch(`${url}/${path}`, { method: 'POST', headers: { 'X-Parse-Application-Id': 'app', 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
  if (!res.ok) throw new Error(await res.text())
}
process.exit(0)

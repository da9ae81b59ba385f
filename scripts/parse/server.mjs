// Parse Server for tests and for examples/parse: a small shop with users, roles and permissions.
//
//   node server.mjs SETTINGS     SETTINGS is a JSON file:
//     {"port", "database", "app_id", "master_key", "read_only_master_key", "rest_key", "users": {"alice": "password", …}}
//
// It listens on 127.0.0.1, fills an empty database through its own REST API, and prints "ready" when that is done.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import express from 'express'
import { ParseServer } from 'parse-server'
import { seed } from './seed.mjs'

const s = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const url = `http://127.0.0.1:${s.port}/parse`
const server = new ParseServer({
  databaseURI: s.database, serverURL: url, appId: s.app_id, masterKey: s.master_key, readOnlyMasterKey: s.read_only_master_key,
  restAPIKey: s.rest_key, cloud: new URL('./cloud.cjs', import.meta.url).pathname, silent: true, logsFolder: null, allowClientClassCreation: false,
  directAccess: false, javascriptKey: s.rest_key, // parse-server 9.10 cannot route requests of cloud code in its process with router 2.3; over HTTP they need a key
  fileUpload: { enableForPublic: false }, defaultLimit: 100, maxLimit: 100000,
  idempotencyOptions: { paths: ['classes/.*', 'functions/.*'], ttl: 300 },
})
await server.start()
const app = express()
app.use('/parse', server.app)
const http = createServer(app)
await new Promise(done => http.listen(s.port, '127.0.0.1', done))
await seed(url, s)
console.log('ready')

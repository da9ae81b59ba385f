// An independent evaluator of aggregation pipelines: it speaks the MongoDB wire protocol and evaluates with the npm package
// mingo. It isn't MongoDB. It keeps documents in memory, all numbers as doubles, and knows just the commands that
// Bailiwick and its tests send.
//
//   node server.mjs PORT    listens on the loopback, and prints "ready" when it does
import net from "node:net";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const { BSON } = require("bson");
const mingo = require("mingo");

const databases = new Map(); // name -> Map of collections: {docs, indexes, options}
const cursors = new Map();
let lastCursor = 1n;

const fail = (code, codeName, errmsg) => ({ ok: 0, code, codeName, errmsg });
const base = (name) => databases.get(name) ?? databases.set(name, new Map()).get(name);
const made = (db, name) => {
  const all = base(db);
  return all.get(name) ?? all.set(name, { docs: [], indexes: [{ v: 2, key: { _id: 1 }, name: "_id_" }], options: {} }).get(name);
};
const docsOf = (db, name) => base(db).get(name)?.docs ?? [];
const same = (a, b) => Buffer.compare(Buffer.from(BSON.serialize({ v: a })), Buffer.from(BSON.serialize({ v: b }))) === 0;
const options = (db) => ({ collectionResolver: (name) => docsOf(db, name), useStrictMode: true });

// paged answers with the first batch of documents and keeps the rest.
function paged(db, name, docs, batch) {
  const size = batch ?? 101;
  const rest = docs.slice(size);
  let id = 0n;
  if (rest.length > 0) {
    id = ++lastCursor;
    cursors.set(id, { rest, ns: `${db}.${name}` });
  }
  return { cursor: { id: BSON.Long.fromBigInt(id), ns: `${db}.${name}`, firstBatch: docs.slice(0, size) }, ok: 1 };
}

const hello = () => ({
  ismaster: true, isWritablePrimary: true, helloOk: true, maxBsonObjectSize: 16777216, maxMessageSizeBytes: 48000000,
  maxWriteBatchSize: 100000, localTime: new Date(), minWireVersion: 0, maxWireVersion: 21, readOnly: false, ok: 1,
});

function insert(db, cmd) {
  const to = made(db, cmd.insert);
  const writeErrors = [];
  let n = 0;
  cmd.documents.forEach((doc, index) => {
    if (doc._id === undefined) doc._id = new BSON.ObjectId();
    const unique = to.indexes.filter((i) => i.unique || i.name === "_id_").map((i) => Object.keys(i.key));
    const clash = unique.find((keys) => to.docs.some((d) => keys.every((k) => same(d[k] ?? null, doc[k] ?? null))));
    if (clash) writeErrors.push({ index, code: 11000, errmsg: "E11000 duplicate key error" });
    else { to.docs.push(doc); n++; }
  });
  return { n, ...(writeErrors.length ? { writeErrors } : {}), ok: 1 };
}

function find(db, cmd) {
  let cursor = new mingo.Query(cmd.filter ?? {}, options(db)).find(docsOf(db, cmd.find), cmd.projection ?? {});
  if (cmd.sort && Object.keys(cmd.sort).length) cursor = cursor.sort(cmd.sort);
  if (cmd.skip) cursor = cursor.skip(cmd.skip);
  if (cmd.limit) cursor = cursor.limit(Math.abs(cmd.limit));
  return paged(db, cmd.find, cursor.all(), cmd.singleBatch ? Infinity : cmd.batchSize);
}

function aggregate(db, cmd) {
  const run = new mingo.Aggregator(cmd.pipeline, options(db));
  const docs = run.run(structuredCloneOf(docsOf(db, cmd.aggregate)));
  return paged(db, cmd.aggregate, docs, cmd.cursor?.batchSize);
}

const structuredCloneOf = (docs) => docs.map((d) => BSON.deserialize(BSON.serialize(d), reading));

function write(db, cmd, query) {
  const collection = made(db, cmd.findAndModify ?? cmd.findandmodify ?? cmd.update ?? cmd.delete);
  const found = new mingo.Query(query, options(db));
  return { collection, index: collection.docs.findIndex((d) => found.test(d)) };
}

function findAndModify(db, cmd) {
  const { collection, index } = write(db, cmd, cmd.query ?? {});
  const before = collection.docs[index] ?? null;
  if (!before && cmd.upsert && !cmd.remove) {
    const doc = {};
    for (const [k, v] of Object.entries(cmd.query)) if (typeof v !== "object" || v === null || v._bsontype) doc[k] = v;
    mingo.updateOne([doc], {}, cmd.update);
    if (cmd.update.$setOnInsert) Object.assign(doc, cmd.update.$setOnInsert);
    collection.docs.push(doc);
    return { value: cmd.new ? doc : null, lastErrorObject: { n: 1, updatedExisting: false, upserted: doc._id }, ok: 1 };
  }
  if (!before) return { value: null, lastErrorObject: { n: 0, updatedExisting: false }, ok: 1 };
  if (cmd.remove) {
    collection.docs.splice(index, 1);
    return { value: before, lastErrorObject: { n: 1 }, ok: 1 };
  }
  const after = structuredCloneOf([before])[0];
  if (Object.keys(cmd.update).some((k) => k.startsWith("$"))) {
    for (const [k, v] of Object.entries(cmd.update.$set ?? {})) after[k] = v;
    for (const k of Object.keys(cmd.update.$unset ?? {})) delete after[k];
  } else {
    for (const k of Object.keys(after)) if (k !== "_id") delete after[k];
    Object.assign(after, cmd.update);
  }
  collection.docs[index] = after;
  return { value: cmd.new ? after : before, lastErrorObject: { n: 1, updatedExisting: true }, ok: 1 };
}

function remove(db, cmd) {
  let n = 0;
  for (const { q, limit } of cmd.deletes) {
    const to = made(db, cmd.delete);
    const found = new mingo.Query(q, options(db));
    to.docs = to.docs.filter((d) => !(found.test(d) && (limit === 0 || n === 0) && ++n));
  }
  return { n, ok: 1 };
}

const commands = {
  hello, ismaster: hello, isMaster: hello,
  ping: () => ({ ok: 1 }), endSessions: () => ({ ok: 1 }), killOp: () => ({ ok: 1 }),
  buildInfo: () => ({ version: "0.0.0-mingo", versionArray: [0, 0, 0, 0], modules: ["mingo-wire-server"], ok: 1 }),
  insert, find, aggregate, findAndModify, findandmodify: findAndModify, delete: remove,
  count: (db, cmd) => ({ n: new mingo.Query(cmd.query ?? {}, options(db)).find(docsOf(db, cmd.count)).all().length, ok: 1 }),
  create: (db, cmd) => { made(db, cmd.create).options = cmd.validator ? { validator: cmd.validator } : {}; return { ok: 1 }; },
  createIndexes: (db, cmd) => {
    const to = made(db, cmd.createIndexes);
    for (const i of cmd.indexes) if (!to.indexes.some((have) => have.name === i.name)) to.indexes.push(i);
    return { ok: 1 };
  },
  listIndexes: (db, cmd) => paged(db, cmd.listIndexes, base(db).get(cmd.listIndexes)?.indexes ?? [], Infinity),
  listCollections: (db, cmd) => {
    const all = [...base(db)].map(([name, c]) => ({ name, type: "collection", options: c.options, info: { readOnly: false } }));
    return paged(db, "$cmd.listCollections", new mingo.Query(cmd.filter ?? {}).find(all).all(), Infinity);
  },
  drop: (db, cmd) => (base(db).delete(cmd.drop) ? { ok: 1 } : fail(26, "NamespaceNotFound", "ns not found")),
  dropDatabase: (db) => (databases.delete(db), { ok: 1 }),
  getMore: (_, cmd) => {
    const at = cursors.get(BigInt(cmd.getMore.toString()));
    if (!at) return fail(43, "CursorNotFound", "cursor not found");
    const nextBatch = at.rest.splice(0, cmd.batchSize ?? 1000);
    const done = at.rest.length === 0;
    if (done) cursors.delete(BigInt(cmd.getMore.toString()));
    return { cursor: { id: done ? BSON.Long.ZERO : cmd.getMore, ns: at.ns, nextBatch }, ok: 1 };
  },
  killCursors: (_, cmd) => {
    for (const id of cmd.cursors) cursors.delete(BigInt(id.toString()));
    return { cursorsKilled: cmd.cursors, ok: 1 };
  },
};

// double returns a document with all numbers as doubles: this evaluator knows no others.
function double(v) {
  if (Array.isArray(v)) return v.map(double);
  if (v?._bsontype === "Long") return Number(v.toString());
  if (v?._bsontype === "Decimal128") return Number(v.toString());
  if (v && typeof v === "object" && v.constructor === Object) for (const k of Object.keys(v)) v[k] = double(v[k]);
  return v;
}

function run(doc) {
  const name = Object.keys(doc)[0];
  const command = commands[name];
  if (!command) return fail(59, "CommandNotFound", `no such command: '${name}'`);
  try {
    return command(doc.$db, name === "getMore" || name === "killCursors" ? doc : double(doc));
  } catch (e) {
    console.log(name, String(e?.stack ?? e).slice(0, 600));
    return fail(2, "BadValue", String(e?.message ?? e));
  }
}

const reading = { promoteLongs: true, promoteBuffers: false, bsonRegExp: false, ignoreUndefined: false, useBigInt64: false };
const writing = { ignoreUndefined: true };

// answer returns the reply to one message: OP_MSG (2013), or OP_QUERY (2004), with which drivers begin.
function answer(message) {
  const opcode = message.readInt32LE(12);
  const id = message.readInt32LE(4);
  const framed = (op, body) => {
    const head = Buffer.alloc(16);
    head.writeInt32LE(16 + body.length, 0);
    head.writeInt32LE(id, 8);
    head.writeInt32LE(op, 12);
    return Buffer.concat([head, body]);
  };
  if (opcode === 2004) {
    let at = 20;
    while (message[at] !== 0) at++;
    const doc = BSON.deserialize(message.subarray(at + 9), reading);
    const reply = BSON.serialize(run({ ...doc, $db: "admin" }), writing);
    const head = Buffer.alloc(20);
    head.writeInt32LE(8, 0);
    head.writeInt32LE(1, 16);
    return framed(1, Buffer.concat([head, reply]));
  }
  const flags = message.readUInt32LE(16);
  const end = message.length - (flags & 1 ? 4 : 0);
  let doc = {};
  for (let at = 20; at < end; ) {
    const kind = message[at++];
    const size = message.readInt32LE(at);
    if (kind === 0) {
      doc = { ...BSON.deserialize(message.subarray(at, at + size), reading), ...doc };
    } else {
      let from = at + 4;
      while (message[from] !== 0) from++;
      const name = message.toString("utf8", at + 4, from++);
      const list = [];
      while (from < at + size) {
        const n = message.readInt32LE(from);
        list.push(BSON.deserialize(message.subarray(from, from + n), reading));
        from += n;
      }
      doc = { ...doc, [name]: list };
    }
    at += size;
  }
  if (flags & 2) return run(doc), null;
  return framed(2013, Buffer.concat([Buffer.from([0, 0, 0, 0, 0]), BSON.serialize(run(doc), writing)]));
}

const server = net.createServer((socket) => {
  let held = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    held = held.length ? Buffer.concat([held, chunk]) : chunk;
    while (held.length >= 4 && held.length >= held.readInt32LE(0)) {
      const size = held.readInt32LE(0);
      const reply = answer(held.subarray(0, size));
      held = held.subarray(size);
      if (reply) socket.write(reply);
    }
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log("ready"));

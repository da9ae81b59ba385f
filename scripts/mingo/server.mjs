// An independent evaluator of aggregation pipelines: it speaks the MongoDB wire protocol and evaluates with the npm package
// mingo. It isn't MongoDB. It keeps documents in memory, all numbers as doubles but whole ones beyond 2^53, with which it
// doesn't compute, and knows just the commands that Bailiwick and its tests send. It has transactions as a replica set has: each reads a snapshot, and fails with a WriteConflict
// if it writes what another one has written.
//
//   node server.mjs PORT    listens on the loopback, and prints "ready" when it does
import net from "node:net";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const require = createRequire(import.meta.url);
const { BSON } = require("bson");

// What mingo 7.2.7 does otherwise than MongoDB's documentation says, put right in its source: by file, pairs of texts.
const corrections = {
  // It compares by type, and knows no BigInt: here it is a number, so that whole numbers of 64 bits compare exactly.
  "util/_internal.js": [['    case "number":\n    case "string":', '    case "bigint":\n      return "number";\n    case "number":\n    case "string":']],
  // It computes with 32 bits, and not with 64.
  "operators/expression/bitwise/bitAnd.js": [["(a, b) => a & b", "(a, b) => Number(BigInt(a) & BigInt(b))"]],
  "operators/expression/bitwise/bitOr.js": [["(a, b) => a | b", "(a, b) => Number(BigInt(a) | BigInt(b))"]],
  "operators/expression/bitwise/bitXor.js": [["(a, b) => a ^ b", "(a, b) => Number(BigInt(a) ^ BigInt(b))"]],
  // $unwind takes {} and "" for empty lists.
  "operators/pipeline/unwind.js": [["(0, import_internal.isEmpty)(value)", "(0, import_internal.isNil)(value)"]],
  "operators/expression/date/_internal.js": [
    // Months before the year that it counts from are 1 to 12, and not 12 to 23.
    ["const month = m % 12 + 12;", "const month = (m % 12 + 12) % 12;"],
    // The ISO year is that of the Thursday of the week.
    ["return d.getUTCFullYear() - Number(d.getUTCMonth() === 0 && d.getUTCDate() == 1 && d.getUTCDay() < 1);", "return new Date(d.getTime() + (4 - (d.getUTCDay() || 7)) * 864e5).getUTCFullYear();"],
  ],
};
const { _extensions: load } = require("node:module");
const plain = load[".js"];
load[".js"] = (module, file) => {
  const [, name] = file.match(/mingo\/cjs\/(.*)$/) ?? [];
  if (!corrections[name]) return plain(module, file);
  let text = readFileSync(file, "utf8");
  for (const [from, to] of corrections[name]) {
    if (!text.includes(from)) throw new Error(`this mingo has another ${name}`);
    text = text.replace(from, to);
  }
  module._compile(text, file);
};
const mingo = require("mingo");
BigInt.prototype.toJSON = function () { return this.toString(); }; // mingo writes conditions into messages

const databases = new Map(); // name -> Map of collections: {docs, indexes, options}
const cursors = new Map();
let lastCursor = 1n;

// Transactions: by session, what one sees and has written. locks are the documents that one has written, by name.
const transactions = new Map();
const locks = new Map();
const lifetime = 8000; // ms after its last command, when one that was left is aborted
let inside = null; // the transaction of the command that runs

const sessionOf = (cmd) => `${cmd.lsid?.id?.toString("hex")}/${cmd.txnNumber}`;
const conflict = () => Object.assign(new Error("WriteConflict"), { code: 112, codeName: "WriteConflict", labels: ["TransientTransactionError"] });
const lockName = (db, coll, id) => `${db}\0${coll}\0${Buffer.from(BSON.serialize({ v: id })).toString("hex")}`;
const committed = (db, coll, id) => databases.get(db)?.get(coll)?.docs.find((d) => same(d._id, id));

function begin(key) {
  const copy = new Map([...databases].map(([db, all]) => [db, new Map([...all].map(([name, c]) => [name, { ...c, docs: [...c.docs] }]))]));
  const t = { key, databases: copy, written: new Map(), until: Date.now() + lifetime };
  transactions.set(key, t);
  return t;
}

// touch notes that the command writes a document. It must come before the write.
function touch(db, coll, id) {
  const name = lockName(db, coll, id);
  const by = locks.get(name);
  if (by && by !== inside && by.until < Date.now()) abort(by);
  if (locks.get(name) && locks.get(name) !== inside) {
    if (inside) throw conflict();
    throw waiting;
  }
  if (!inside) return;
  if (!inside.written.has(name)) {
    const seen = made(db, coll).docs.find((d) => same(d._id, id));
    if (committed(db, coll, id) !== seen) throw conflict();
    inside.written.set(name, { db, coll, id });
    locks.set(name, inside);
  }
}

function abort(t) {
  for (const name of t.written.keys()) locks.delete(name);
  transactions.delete(t.key);
}

function commit(t) {
  const now = [...t.written.values()].map((w) => ({ ...w, doc: t.databases.get(w.db)?.get(w.coll)?.docs.find((d) => same(d._id, w.id)) }));
  for (const w of now) {
    const to = databases.get(w.db)?.get(w.coll);
    if (w.doc && to && clashes(to, w.doc, w.id)) {
      abort(t);
      throw conflict();
    }
  }
  for (const w of now) {
    const to = made(w.db, w.coll);
    const index = to.docs.findIndex((d) => same(d._id, w.id));
    if (w.doc && index < 0) to.docs.push(w.doc);
    else if (w.doc) to.docs[index] = w.doc;
    else if (index >= 0) to.docs.splice(index, 1);
  }
  abort(t);
}

// clashes reports whether another document than that with the _id except has the same values in a unique index.
function clashes(to, doc, except) {
  const unique = to.indexes.filter((i) => i.unique || i.name === "_id_").map((i) => Object.keys(i.key));
  return unique.some((keys) => to.docs.some((d) => !(except !== undefined && same(d._id, except)) && keys.every((k) => same(d[k] ?? null, doc[k] ?? null))));
}
const waiting = Symbol("waiting"); // for the lock of a transaction

const fail = (code, codeName, errmsg) => ({ ok: 0, code, codeName, errmsg });
const base = (name) => {
  const all = inside?.databases ?? databases;
  return all.get(name) ?? all.set(name, new Map()).get(name);
};
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

const address = `127.0.0.1:${process.argv[2]}`;
const hello = () => ({
  ismaster: true, isWritablePrimary: true, helloOk: true, maxBsonObjectSize: 16777216, maxMessageSizeBytes: 48000000,
  maxWriteBatchSize: 100000, localTime: new Date(), minWireVersion: 0, maxWireVersion: 21, readOnly: false, ok: 1,
  setName: "mingo", setVersion: 1, hosts: [address], me: address, primary: address, logicalSessionTimeoutMinutes: 30,
});

function insert(db, cmd) {
  const to = made(db, cmd.insert);
  const writeErrors = [];
  let n = 0;
  cmd.documents.forEach((doc, index) => {
    if (doc._id === undefined) doc._id = new BSON.ObjectId();
    touch(db, cmd.insert, doc._id);
    if (clashes(to, doc)) writeErrors.push({ index, code: 11000, errmsg: "E11000 duplicate key error" });
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

const structuredCloneOf = (docs) => docs.map((d) => double(BSON.deserialize(BSON.serialize(d), reading)));

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
  touch(db, cmd.findAndModify ?? cmd.findandmodify, before._id);
  if (cmd.remove) {
    collection.docs.splice(index, 1);
    return { value: before, lastErrorObject: { n: 1 }, ok: 1 };
  }
  const after = structuredCloneOf([before])[0];
  if (Object.keys(cmd.update).some((k) => k.startsWith("$"))) {
    for (const [k, v] of Object.entries(cmd.update.$set ?? {})) after[k] = v;
    for (const [k, v] of Object.entries(cmd.update.$inc ?? {})) after[k] = (after[k] ?? 0) + v;
    for (const k of Object.keys(cmd.update.$unset ?? {})) delete after[k];
  } else {
    for (const k of Object.keys(after)) if (k !== "_id") delete after[k];
    Object.assign(after, cmd.update);
  }
  if (clashes(collection, after, before._id)) throw Object.assign(new Error("E11000 duplicate key error"), { code: 11000, codeName: "DuplicateKey" });
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
  explain: (db, cmd) => ({ queryPlanner: { namespace: `${db}.${cmd.explain.aggregate}`, winningPlan: { stage: "COLLSCAN" } }, ok: 1 }),
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
  commitTransaction: () => { const t = inside; inside = null; commit(t); return { ok: 1 }; },
  abortTransaction: () => (abort(inside), { ok: 1 }),
  drop: (db, cmd) => (base(db).delete(cmd.drop) ? { ok: 1 } : fail(26, "NamespaceNotFound", "ns not found")),
  dropDatabase: (db) => (databases.delete(db), { ok: 1 }),
  getMore: (_, cmd) => {
    const at = cursors.get(BigInt(cmd.getMore.toString()));
    if (!at) return fail(43, "CursorNotFound", "cursor not found");
    const nextBatch = at.rest.splice(0, cmd.batchSize ?? 1000);
    const done = at.rest.length === 0;
    if (done) cursors.delete(BigInt(cmd.getMore.toString()));
    return { cursor: { id: done ? BSON.Long.ZERO : BSON.Long.fromBigInt(BigInt(cmd.getMore.toString())), ns: at.ns, nextBatch }, ok: 1 };
  },
  killCursors: (_, cmd) => {
    for (const id of cmd.cursors) cursors.delete(BigInt(id.toString()));
    return { cursorsKilled: cmd.cursors, ok: 1 };
  },
};

// double returns a document with all numbers as doubles, but for whole ones that are beyond them.
function double(v) {
  if (Array.isArray(v)) return v.map(double);
  if (v?._bsontype === "Long") v = v.toBigInt();
  if (typeof v === "bigint") return Number.isSafeInteger(Number(v)) ? Number(v) : v;
  if (v?._bsontype === "Decimal128") return Number(v.toString());
  if (v && typeof v === "object" && v.constructor === Object) for (const k of Object.keys(v)) v[k] = double(v[k]);
  return v;
}

function run(doc) {
  const name = Object.keys(doc)[0];
  const command = commands[name];
  if (!command) return fail(59, "CommandNotFound", `no such command: '${name}'`);
  inside = null;
  try {
    if (doc.autocommit === false) {
      const key = sessionOf(doc);
      inside = doc.startTransaction ? begin(key) : transactions.get(key);
      if (inside && inside.until >= Date.now()) inside.until = Date.now() + lifetime;
      else return { ...fail(251, "NoSuchTransaction", "no such transaction"), errorLabels: ["TransientTransactionError"] };
    }
    const answer = command(doc.$db, name === "getMore" || name === "killCursors" ? doc : double(doc));
    if (answer.writeErrors && inside) abort(inside); // any error ends a transaction
    return answer;
  } catch (e) {
    if (e === waiting) return waiting;
    if (inside) abort(inside);
    if (e?.code) return { ...fail(e.code, e.codeName, e.message), ...(e.labels ? { errorLabels: e.labels } : {}) };
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
  const reply = run(doc);
  if (reply === waiting) return waiting;
  if (flags & 2) return null;
  return framed(2013, Buffer.concat([Buffer.from([0, 0, 0, 0, 0]), BSON.serialize(reply, writing)]));
}

const server = net.createServer((socket) => {
  let held = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    held = held.length ? Buffer.concat([held, chunk]) : chunk;
    while (held.length >= 4 && held.length >= held.readInt32LE(0)) {
      const size = held.readInt32LE(0);
      const message = held.subarray(0, size);
      held = held.subarray(size);
      const reply = () => {
        const bytes = answer(message);
        if (bytes === waiting) setTimeout(reply, 5);
        else if (bytes) socket.write(bytes);
      };
      reply();
    }
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log("ready"));

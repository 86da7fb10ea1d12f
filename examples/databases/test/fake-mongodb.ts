/**
 * A fake of mongod, for tests where no real one can be had. It speaks MongoDB's wire protocol
 * (OP_MSG) to the real driver, and keeps the promise that the recipes rely on: an update of one
 * document is atomic, and its condition holds when it is written. A transaction sees a copy, and
 * its commit is refused as a conflict if anything was written since it began. It has no replica
 * set and no failover.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Query, update } from 'mingo';
import { BSON, type Document } from 'mongodb';

export interface FakeMongod {
  /** For `new MongoClient(url)`. */
  readonly url: string;
  close(): Promise<void>;
}

export async function startFakeMongod(port = 0): Promise<FakeMongod> {
  const database = new Database();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= received.readInt32LE()) {
        const message = received.subarray(0, received.readInt32LE());
        received = received.subarray(message.length);
        database.inTurn(message, () => void socket.write(answer(message, database)));
      }
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/shop`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER = 16;

/** The driver says hello by OP_QUERY, and everything else by OP_MSG. */
function answer(message: Buffer, database: Database): Buffer {
  const [request, code] = [message.readInt32LE(4), message.readInt32LE(12)];
  if (code === OP_QUERY)
    return framed(request, OP_REPLY, [int32(8, 0, 0, 0, 1), BSON.serialize(HELLO)]);
  const reply = replyTo(commandIn(message), database);
  return framed(request, OP_MSG, [int32(0), Buffer.of(0), BSON.serialize(reply)]);
}

function framed(responseTo: number, code: number, parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(HEADER + body.length, 0, responseTo, code), body]);
}

function int32(...numbers: number[]): Buffer {
  return Buffer.from(Int32Array.from(numbers).buffer);
}

/** One document (kind 0), and lists of documents by name (kind 1). */
function commandIn(message: Buffer): Document {
  const command: Document = {};
  let at = HEADER + 4;
  while (at < message.length) {
    const kind = message[at]!;
    const end = at + 1 + message.readInt32LE(at + 1);
    const section = message.subarray(at + 1, end);
    at = end;
    if (kind === 0) Object.assign(command, BSON.deserialize(section));
    else {
      const name = section.toString('utf8', 4, section.indexOf(0, 4));
      command[name] = documentsIn(section.subarray(5 + Buffer.byteLength(name)));
    }
  }
  return command;
}

function documentsIn(bytes: Buffer): Document[] {
  if (bytes.length === 0) return [];
  const length = bytes.readInt32LE();
  return [BSON.deserialize(bytes.subarray(0, length)), ...documentsIn(bytes.subarray(length))];
}

const HELLO = {
  ok: 1,
  isWritablePrimary: true,
  ismaster: true,
  minWireVersion: 0,
  maxWireVersion: 25,
  maxBsonObjectSize: 2 ** 24,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  readOnly: false,
  logicalSessionTimeoutMinutes: 30,
};

interface Change {
  readonly q: Document;
  readonly u: Document;
  readonly multi?: boolean;
  readonly upsert?: boolean;
}

function run(command: Document, collections: Collections): Document {
  const [name, target] = Object.entries(command)[0] as [string, unknown];
  const collection = collections.get(String(target)) ?? new Collection();
  collections.set(String(target), collection);
  switch (name) {
    case 'hello':
    case 'isMaster':
    case 'ismaster':
      return HELLO;
    case 'ping':
    case 'endSessions':
    case 'create':
      return { ok: 1 };
    case 'createIndexes':
      for (const index of command['indexes'] as Document[])
        if (index['unique'] === true)
          collection.unique.add(Object.keys(index['key'] as object)[0]!);
      return { ok: 1 };
    case 'insert':
      return written(() => collection.insert(command['documents'] as Document[]));
    case 'find': {
      const { filter, sort, limit } = command;
      const found = collection.find(filter as Document, sort as Document | undefined);
      const firstBatch = found.slice(0, Number(limit ?? 0) || undefined);
      return { ok: 1, cursor: { id: BSON.Long.ZERO, ns: `shop.${String(target)}`, firstBatch } };
    }
    case 'update':
      return written(() => {
        let [n, nModified] = [0, 0];
        const upserted: Document[] = [];
        for (const [index, change] of (command['updates'] as Change[]).entries()) {
          const changed = collection.update(change);
          n += changed.n;
          nModified += changed.nModified;
          if (changed.upserted !== undefined) upserted.push({ index, _id: changed.upserted });
        }
        return { n, nModified, ...(upserted.length > 0 && { upserted }) };
      });
    case 'findAndModify': {
      const [before] = collection.find(command['query'] as Document);
      const { query: q, update: u, upsert } = command as Document & { query: Document };
      const { n, upserted } = collection.update({ q, u: u as Document, upsert: upsert === true });
      const _id: unknown = before?.['_id'] ?? upserted;
      const after = _id === undefined ? undefined : collection.find({ _id })[0];
      const value = (command['new'] === true ? after : before) ?? null;
      return { ok: 1, value, lastErrorObject: { n, updatedExisting: before !== undefined } };
    }
    default:
      return { ok: 0, code: 59, codeName: 'CommandNotFound', errmsg: `no ${name} in this fake` };
  }
}

function replyTo(command: Document, database: Database): Document {
  try {
    return database.run(command);
  } catch (error) {
    return { ok: 0, code: 2, codeName: 'BadValue', errmsg: (error as Error).message };
  }
}

type Collections = Map<string, Collection>;

interface Transaction {
  readonly copy: Collections;
  /** The count of writes when it began. */
  readonly since: number;
  hasWritten: boolean;
}

/** An update that finds nothing writes nothing, and conflicts with nothing. */
const hasWritten = ({ n, lastErrorObject }: Document): boolean =>
  Number(n ?? (lastErrorObject as Document | undefined)?.['n'] ?? 0) > 0;
const aborted = (code: number, codeName: string): Document => ({
  ok: 0,
  code,
  codeName,
  errmsg: codeName,
  errorLabels: ['TransientTransactionError'],
});

class Database {
  #collections: Collections = new Map();
  #writes = 0;
  readonly #transactions = new Map<string, Transaction>();
  readonly #waiting: (() => void)[] = [];

  /** Begins transactions one after the other: otherwise their commits refuse each other. */
  inTurn(message: Buffer, reply: () => void): void {
    const begins = message.includes('startTransaction');
    if (begins && this.#transactions.size > 0) this.#waiting.push(reply);
    else reply();
    while (this.#transactions.size === 0 && this.#waiting.length > 0) this.#waiting.shift()!();
  }

  run(command: Document): Document {
    const name = Object.keys(command)[0]!;
    if (command['autocommit'] !== false) {
      const reply = run(command, this.#collections);
      if (hasWritten(reply)) this.#writes += 1;
      return reply;
    }
    const id = `${String((command['lsid'] as Document)['id'])} ${String(command['txnNumber'])}`;
    if (command['startTransaction'] === true) this.#begin(id);
    const transaction = this.#transactions.get(id);
    if (transaction === undefined) return aborted(251, 'NoSuchTransaction');
    if (name === 'abortTransaction' || name === 'commitTransaction') {
      this.#transactions.delete(id);
      return name === 'abortTransaction' ? { ok: 1 } : this.#commit(transaction);
    }
    const reply = run(command, transaction.copy);
    transaction.hasWritten ||= hasWritten(reply);
    return reply;
  }

  #begin(id: string): void {
    const copies = [...this.#collections].map(([name, each]) => [name, each.copy()] as const);
    const copy = new Map(copies);
    this.#transactions.set(id, { copy, since: this.#writes, hasWritten: false });
  }

  #commit({ copy, since, hasWritten }: Transaction): Document {
    if (!hasWritten) return { ok: 1 };
    if (since !== this.#writes) return aborted(112, 'WriteConflict');
    this.#writes += 1;
    this.#collections = copy;
    return { ok: 1 };
  }
}

class DuplicateKey extends Error {}

function written(write: () => Document): Document {
  try {
    return { ok: 1, ...write() };
  } catch (error) {
    if (!(error instanceof DuplicateKey)) throw error;
    return { ok: 1, n: 0, writeErrors: [{ index: 0, code: 11_000, errmsg: error.message }] };
  }
}

class Collection {
  readonly unique = new Set<string>();
  #documents: Document[] = [];

  copy(): Collection {
    const copy = new Collection();
    for (const key of this.unique) copy.unique.add(key);
    copy.#documents = [...this.#documents];
    return copy;
  }

  insert(documents: readonly Document[]): Document {
    for (const document of documents) {
      for (const key of ['_id', ...this.unique]) {
        const value: unknown = document[key];
        if (this.#documents.some((each) => isSame(each[key], value)))
          throw new DuplicateKey(`E11000 duplicate key error, index: ${key}_1`);
      }
      this.#documents.push(document);
    }
    return { n: documents.length };
  }

  find(filter: Document, sort?: Document): Document[] {
    // First by texts, because mingo takes long for thousands of documents.
    const texts = Object.entries(filter).filter(([, value]) => typeof value === 'string');
    const candidates = this.#documents.filter((each) =>
      texts.every(([key, value]) => each[key] === value),
    );
    const found = new Query(filter).find<Document>(candidates);
    return (sort === undefined ? found : found.sort(sort)).all();
  }

  update({ q, u, multi = false, upsert = false }: Change): {
    n: number;
    nModified: number;
    upserted?: unknown;
  } {
    const found = this.find(q).slice(0, multi ? Infinity : 1);
    if (found.length === 0 && upsert) {
      const equal = Object.entries(q).filter(([, value]) => !isCondition(value));
      const created: Document = { _id: new BSON.ObjectId(), ...Object.fromEntries(equal) };
      apply(created, {
        ...u,
        $set: { ...(u['$setOnInsert'] as object), ...(u['$set'] as object) },
      });
      this.insert([created]);
      return { n: 1, nModified: 0, upserted: created['_id'] };
    }
    let nModified = 0;
    for (const document of found) {
      // A copy, because a transaction shares the documents that it has not changed.
      const changed = BSON.deserialize(BSON.serialize(document));
      this.#documents[this.#documents.indexOf(document)] = changed;
      nModified += apply(changed, u);
    }
    return { n: found.length, nModified };
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  one instanceof BSON.ObjectId && other instanceof BSON.ObjectId
    ? one.equals(other)
    : one === other;

const isCondition = (value: unknown): boolean =>
  value !== null && typeof value === 'object' && Object.keys(value)[0]?.startsWith('$') === true;

/** Returns 1 if the document changed. */
function apply(document: Document, change: Document): number {
  const { $setOnInsert: _, ...modifier } = change;
  return update(document, modifier).length > 0 ? 1 : 0;
}

/**
 * A fake of Firestore, for tests where the emulator cannot be had. It speaks Firestore's gRPC API
 * to the real driver, and keeps the promise that the recipe relies on: a transaction whose document
 * changed since it was read is ABORTED, and writes nothing. Transactions wait for each other, as
 * with the locks of the service.
 */
import { createRequire } from 'node:module';
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

export interface FakeFirestore {
  /** For FIRESTORE_EMULATOR_HOST. */
  readonly host: string;
  close(): void;
}

type Value = Readonly<Record<string, unknown>>;
type Fields = Record<string, Value>;

interface Stored {
  readonly fields: Fields;
  readonly version: number;
}

interface Write {
  readonly update: { readonly name: string; readonly fields?: Fields };
  readonly updateMask?: { readonly fieldPaths: readonly string[] };
  readonly updateTransforms?: readonly {
    readonly fieldPath: string;
    /** Else the time of the server. */
    readonly increment?: Value;
  }[];
  readonly currentDocument?: { readonly exists?: boolean };
}

interface Query {
  readonly where?: Filter;
  readonly orderBy?: readonly { readonly field: { readonly fieldPath: string } }[];
}

interface Filter {
  readonly compositeFilter?: { readonly filters: readonly Filter[] };
  readonly unaryFilter?: { readonly field: { readonly fieldPath: string } };
  readonly fieldFilter?: {
    readonly field: { readonly fieldPath: string };
    readonly op: string;
    readonly value: Value;
  };
}

interface GetRequest {
  readonly documents: readonly string[];
  readonly transaction?: Buffer;
  readonly newTransaction?: object;
}

interface CommitRequest {
  readonly writes?: readonly Write[];
  readonly transaction?: Buffer;
}

export async function startFakeFirestore(): Promise<FakeFirestore> {
  const server = new Server();
  server.addService(firestoreService(), handlers());
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { host: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

function firestoreService(): ServiceClientConstructor['service'] {
  const require = createRequire(createRequire(import.meta.url).resolve('firebase-admin/firestore'));
  const protos = require('@google-cloud/firestore/build/protos/v1.json') as object;
  const options = { longs: String, enums: String, oneofs: true };
  const { google } = loadPackageDefinition(fromJSON(protos, options)) as unknown as {
    google: { firestore: { v1: { Firestore: ServiceClientConstructor } } };
  };
  return google.firestore.v1.Firestore.service;
}

function handlers() {
  const documents = new Map<string, Stored>();
  /** The versions that each transaction has read. */
  const transactions = new Map<string, Map<string, number>>();
  let count = 0;

  let current: string | undefined;
  const waiting: (() => void)[] = [];

  const begin = (go: (id: Buffer) => void): void => {
    if (current !== undefined) {
      waiting.push(() => begin(go));
      return;
    }
    const id = Buffer.from(`transaction-${(count += 1)}`);
    current = String(id);
    transactions.set(current, new Map());
    go(id);
  };
  const end = (transaction: Buffer | undefined): void => {
    if (String(transaction) !== current) return;
    current = undefined;
    waiting.shift()?.();
  };
  const toDocument = (name: string, { fields, version }: Stored): object => ({
    name,
    fields,
    createTime: timeOf(0),
    updateTime: timeOf(version),
  });
  return {
    BeginTransaction(_call: unknown, reply: sendUnaryData<object>) {
      begin((transaction) => reply(null, { transaction }));
    },
    Rollback(call: ServerUnaryCall<CommitRequest, object>, reply: sendUnaryData<object>) {
      end(call.request.transaction);
      reply(null, {});
    },
    BatchGetDocuments(call: ServerWritableStream<GetRequest, object>) {
      const { documents: names, newTransaction, transaction: known } = call.request;
      const read = (transaction: Buffer | undefined): void => {
        const versions = transaction && transactions.get(String(transaction));
        for (const name of names) {
          const stored = documents.get(name);
          versions?.set(name, stored?.version ?? 0);
          const found = stored && { found: toDocument(name, stored) };
          call.write({ ...(found ?? { missing: name }), readTime: timeOf(count) });
        }
        call.end();
      };
      if (newTransaction === undefined) read(known);
      else
        begin((transaction) => {
          call.write({ transaction });
          read(transaction);
        });
    },
    RunQuery(call: ServerWritableStream<{ readonly structuredQuery: Query }, object>) {
      const { where, orderBy = [] } = call.request.structuredQuery;
      const matching = [...documents].filter(([, { fields }]) => !where || matches(fields, where));
      for (const { field } of orderBy.toReversed())
        matching.sort(([, one], [, other]) =>
          compare(one.fields[field.fieldPath], other.fields[field.fieldPath]),
        );
      for (const [name, stored] of matching)
        call.write({ document: toDocument(name, stored), readTime: timeOf(count) });
      if (matching.length === 0) call.write({ readTime: timeOf(count) });
      call.end();
    },
    Commit(call: ServerUnaryCall<CommitRequest, object>, reply: sendUnaryData<object>) {
      const { writes = [], transaction } = call.request;
      const read = transactions.get(String(transaction)) ?? new Map<string, number>();
      const refusal = refusalOf(documents, read, writes);
      if (refusal === undefined) {
        count += 1;
        for (const write of writes) store(documents, write, count);
      }
      end(transaction);
      const updateTime = timeOf(count);
      reply(refusal ?? null, {
        commitTime: updateTime,
        writeResults: writes.map(() => ({ updateTime })),
      });
    },
  };
}

function refusalOf(
  documents: ReadonlyMap<string, Stored>,
  read: ReadonlyMap<string, number>,
  writes: readonly Write[],
): { readonly code: status; readonly message: string } | undefined {
  for (const [name, version] of read)
    if ((documents.get(name)?.version ?? 0) !== version)
      return { code: status.ABORTED, message: 'a document changed since it was read' };
  for (const { update, currentDocument } of writes) {
    const exists = documents.has(update.name);
    if ((currentDocument?.exists ?? exists) !== exists)
      return exists
        ? { code: status.ALREADY_EXISTS, message: `${update.name} exists` }
        : { code: status.NOT_FOUND, message: `${update.name} does not exist` };
  }
  return undefined;
}

/** Each commit has a time of its own. */
function timeOf(version: number): { seconds: number; nanos: number } {
  return { seconds: Math.floor(Date.now() / 1_000), nanos: version * 1_000 };
}

function store(documents: Map<string, Stored>, write: Write, version: number): void {
  const { update, updateMask, updateTransforms = [] } = write;
  const before = updateMask === undefined ? {} : documents.get(update.name)?.fields;
  const now = { timestampValue: { seconds: Math.floor(Date.now() / 1_000), nanos: 0 } };
  const transformed = updateTransforms.map(({ fieldPath, increment }) => {
    const sum = Number(plain(before?.[fieldPath])) + Number(plain(increment));
    return [fieldPath, increment ? { integerValue: String(sum) } : now] as const;
  });
  const fields = { ...before, ...update.fields, ...Object.fromEntries(transformed) };
  documents.set(update.name, { fields, version });
}

function matches(fields: Fields, { compositeFilter, unaryFilter, fieldFilter }: Filter): boolean {
  if (compositeFilter) return compositeFilter.filters.every((each) => matches(fields, each));
  if (unaryFilter) return 'nullValue' in (fields[unaryFilter.field.fieldPath] ?? {});
  const { field, op, value } = fieldFilter!;
  const order = compare(fields[field.fieldPath], value);
  return op === 'EQUAL' ? order === 0 : op === 'GREATER_THAN' && order > 0;
}

function compare(one: Value | undefined, other: Value | undefined): number {
  const [a, b] = [plain(one), plain(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function plain(value: Value | undefined): string | number {
  const time = value?.['timestampValue'] as { seconds: string; nanos: number } | undefined;
  if (time !== undefined) return Number(time.seconds) + time.nanos / 1e9;
  return (value?.['integerValue'] ?? value?.['stringValue'] ?? '') as string;
}

/** Runs DynamoDB Local of AWS, whose archive is in the package amplify-dynamodb-simulator. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  CreateTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  type CreateTableCommandInput,
} from '@aws-sdk/client-dynamodb';
import { freePort } from '../../../test/servers/starting.js';

const PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const CACHE = fileURLToPath(
  new URL('../../../node_modules/.cache/paylink-runtimes/', import.meta.url),
);

export const DYNAMODB_LOCAL = 'DynamoDB Local 1.25';

export interface DynamoDbLocal {
  /** The environment that an AWS client reads. */
  readonly env: Readonly<Record<string, string>>;
  /** The same for `new DynamoDBClient(client)`. */
  readonly client: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  close(): Promise<void>;
}

/** Starts an empty DynamoDB in memory, with the tables of the recipes. Needs Java 11. */
export async function startDynamoDbLocal(): Promise<DynamoDbLocal> {
  const folder = unpackedPackage();
  const port = await freePort();
  const options = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)];
  const server = spawn(
    'java',
    ['-Djava.library.path=./DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar', ...options],
    { cwd: join(folder, 'emulator'), stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const atExit = (): void => void server.kill('SIGKILL');
  process.once('exit', atExit);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const settings = { endpoint: `http://127.0.0.1:${port}`, region: 'local', credentials };
  const client = new DynamoDBClient(settings);
  // It reports its settings before it listens, so that only an answer says that it is ready.
  while (!(await client.send(new ListTablesCommand()).then(Boolean, () => false))) {
    if (server.exitCode !== null)
      throw new Error('DynamoDB Local did not start: is Java 11 there?');
    await pause(50);
  }
  for (const table of [ORDERS, tableWithId('wallets'), tableWithId('outbox')])
    await client.send(new CreateTableCommand(table));
  client.destroy();
  return {
    client: settings,
    env: {
      AWS_ENDPOINT_URL_DYNAMODB: settings.endpoint,
      AWS_REGION: settings.region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    async close() {
      process.off('exit', atExit);
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    },
  };
}

const ORDERS: CreateTableCommandInput = {
  TableName: 'orders',
  BillingMode: 'PAY_PER_REQUEST',
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
  KeySchema: [{ AttributeName: 'reference', KeyType: 'HASH' }],
  AttributeDefinitions: [
    { AttributeName: 'reference', AttributeType: 'S' },
    { AttributeName: 'unpaid', AttributeType: 'S' },
    { AttributeName: 'paid', AttributeType: 'S' },
    { AttributeName: 'createdAt', AttributeType: 'N' },
  ],
  GlobalSecondaryIndexes: ['unpaid', 'paid'].map((name) => ({
    IndexName: name,
    KeySchema: [
      { AttributeName: name, KeyType: 'HASH' },
      { AttributeName: 'createdAt', KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'KEYS_ONLY' },
  })),
};

const tableWithId = (TableName: string): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
});

/** Fetches the package without its dependencies, which the archive does not need. */
function unpackedPackage(): string {
  const target = join(CACHE, PACKAGE);
  if (existsSync(target)) return join(target, 'package');
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(join(CACHE, 'installing-'));
  const [packed] = execFileSync('npm', ['pack', '--silent', PACKAGE], { cwd: fresh })
    .toString()
    .trim()
    .split('\n');
  execFileSync('tar', ['-xzf', packed!], { cwd: fresh });
  renameSync(fresh, target);
  return join(target, 'package');
}

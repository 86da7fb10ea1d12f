/** The bundles and the SAM template that docs/serverless.md shows. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { signedDelivery } from '@paylink/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, type ScalarTag } from 'yaml';
import { z } from 'zod';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { blockOf } from './blocks.js';
import { stepsOf } from './quick-start.js';

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

let folder: string;
let database: PostgresServer;
let emulator: Emulator;
let env: NodeJS.ProcessEnv;

/** Returns the page's commands for a bundle format. */
const bundling = async (format: 'cjs' | 'esm'): Promise<string> =>
  (await blockOf('docs/serverless.md', `--format=${format}`)).replace(
    'npx esbuild',
    // The tests do not need built packages.
    `${at('test/node_modules/.bin/esbuild')} --conditions=@paylink/source,module --log-level=warning`,
  );

beforeAll(async () => {
  [database, emulator] = await Promise.all([startPostgres({ fsync: 'off' }), startEmulator()]);
  env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    WEBHOOK_SECRET: emulator.webhookSecret,
    PAYLINK_BASE_URL: emulator.baseUrl,
    PAYLINK_API_KEY: emulator.apiKey,
  } as unknown as NodeJS.ProcessEnv;
  folder = await mkdtemp(join(tmpdir(), 'paylink-lambda-'));
  await symlink(at('test/node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const step of stepsOf(await readFile(at('docs/start/lambda.md'), 'utf8')))
    if (step.kind === 'file') await writeFile(join(folder, step.path), step.text);
  const scheduled = await blockOf('docs/serverless.md', '// scheduled.ts');
  await writeFile(join(folder, 'scheduled.ts'), scheduled);
  await run(process.execPath, ['--import=tsx', '--conditions=@paylink/source', 'migrate.ts'], {
    cwd: folder,
    env,
  });
}, 60_000);

afterAll(async () => {
  await emulator.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

/** Loads both functions as AWS does, and calls them. */
const CALLS = `
import { pathToFileURL } from 'node:url';
const [deliveries, folder, ending] = JSON.parse(process.env.CALLS);
const load = (name) => import(pathToFileURL(\`\${folder}/dist/\${name}.\${ending}\`).href);
const { handler } = await load('handler');
const statuses = [];
for (const event of deliveries) statuses.push((await handler(event)).statusCode);
const { credited } = await (await load('scheduled')).handler();
console.log(JSON.stringify({ statuses, credited }));
process.exit();
`;

describe('a Lambda function, bundled as docs/lambda.md shows', () => {
  it.each([
    ['cjs', 'cjs'],
    ['esm', 'mjs'],
  ] as const)(
    'credits an order once as %s, and an undelivered one by its schedule',
    async (format, ending) => {
      const pool = new Pool({ connectionString: database.url });
      try {
        for (const reference of [`${format}-1`, `${format}-2`]) {
          const values = [reference, 15_000, 'XOF'];
          await pool.query(
            'INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)',
            values,
          );
          await emulator.createLink({ amount: 15_000, reference });
          await emulator.pay(reference);
        }
        await run('bash', ['-ec', await bundling(format)], { cwd: folder });
        // AWS loads the bundle without the packages.
        const alone = await mkdtemp(join(folder, 'alone-'));
        await run('cp', ['-r', join(folder, 'dist'), alone]);
        await run('cp', [join(folder, 'package.json'), alone]);
        const { headers, rawBody } = signedDelivery({
          secret: emulator.webhookSecret,
          reference: `${format}-1`,
        });
        const requestContext = { http: { method: 'POST' } };
        const body = rawBody.toString('base64');
        const event = { version: '2.0', requestContext, headers, body, isBase64Encoded: true };
        const calls = join(alone, 'calls.mjs');
        await writeFile(calls, CALLS);
        const { stdout } = await run(process.execPath, [calls], {
          cwd: tmpdir(),
          env: { ...env, CALLS: JSON.stringify([[event, event], alone, ending]) },
        });
        expect(JSON.parse(stdout)).toEqual({ statuses: [200, 200], credited: 1 });
      } finally {
        await pool.end();
      }
    },
    60_000,
  );

  it('fails at startup as ES modules without the banner', async () => {
    const command = (await bundling('esm')).replace(/\\\n +--banner.*/, '');
    const alone = await mkdtemp(join(folder, 'alone-'));
    await run('bash', ['-ec', command.replace('--outdir=dist', `--outdir=${alone}/dist`)], {
      cwd: folder,
    });
    const started = run(process.execPath, [join(alone, 'dist/handler.mjs')]);
    await expect(started).rejects.toThrow('Dynamic require of "events" is not supported');
  });
});

const functionSchema = z.strictObject({
  Type: z.literal('AWS::Serverless::Function'),
  Properties: z.strictObject({
    Handler: z.string(),
    // AWS ends a function after at most 15 minutes.
    Timeout: z.int().min(26).max(900),
    Events: z.record(
      z.string(),
      z.discriminatedUnion('Type', [
        z.strictObject({
          Type: z.literal('HttpApi'),
          Properties: z.strictObject({
            Method: z.literal('POST'),
            Path: z.string().startsWith('/'),
          }),
        }),
        z.strictObject({
          Type: z.literal('Schedule'),
          Properties: z.strictObject({ Schedule: z.string().regex(/^rate\(\d+ minutes\)$/) }),
        }),
      ]),
    ),
  }),
});

const templateSchema = z.strictObject({
  AWSTemplateFormatVersion: z.literal('2010-09-09'),
  Transform: z.literal('AWS::Serverless-2016-10-31'),
  Description: z.string(),
  Parameters: z.record(
    z.string(),
    z.strictObject({
      Type: z.literal('String'),
      Description: z.string(),
      Default: z.string().optional(),
    }),
  ),
  Globals: z.strictObject({
    Function: z.strictObject({
      Runtime: z.string().regex(/^nodejs\d\d\.x$/),
      CodeUri: z.literal('dist/'),
      MemorySize: z.int().min(128).max(10_240),
      Environment: z.strictObject({ Variables: z.record(z.string(), z.string()) }),
    }),
  }),
  Resources: z.record(z.string(), functionSchema),
  Outputs: z.record(z.string(), z.strictObject({ Description: z.string(), Value: z.string() })),
});

describe('the SAM template of docs/lambda.md', () => {
  /** CloudFormation's short functions, with the names in them. */
  const referred: string[] = [];
  const customTags: ScalarTag[] = [
    {
      tag: '!Ref',
      resolve(name) {
        referred.push(name);
        return name;
      },
    },
    {
      tag: '!Sub',
      resolve(text) {
        referred.push(...Array.from(text.matchAll(/\$\{([\w:]+)\}/g), ([, name]) => name!));
        return text;
      },
    },
  ];
  const read = async (): Promise<z.infer<typeof templateSchema>> =>
    templateSchema.parse(
      parse(await readFile(at('examples/lambda/template.yaml'), 'utf8'), { customTags }),
    );

  it('is valid and refers only to its own resources', async () => {
    const { Parameters, Resources } = await read();
    const known = new Set([
      ...Object.keys({ ...Parameters, ...Resources }),
      // SAM creates the API for HttpApi events.
      'ServerlessHttpApi',
      'AWS::Region',
      'AWS::URLSuffix',
    ]);
    expect(referred.filter((name) => !known.has(name))).toEqual([]);
    expect(referred.length).toBeGreaterThan(5);
  });

  it('names the bundled functions and every setting that they read', async () => {
    const { Globals, Resources } = await read();
    const entries = /esbuild (.*?) --bundle/.exec(
      await blockOf('docs/serverless.md', '--format=cjs'),
    )![1]!;
    expect(Object.values(Resources).map(({ Properties }) => Properties.Handler)).toEqual(
      entries.split(' ').map((file) => file.replace(/ts$/, 'handler')),
    );
    const sources = ['handler.ts', 'scheduled.ts', 'payments.ts'].map((name) =>
      readFile(join(folder, name), 'utf8'),
    );
    const settings = (await Promise.all(sources))
      .flatMap((text) => Array.from(text.matchAll(/process\.env\.(\w+)/g), ([, name]) => name!))
      .concat('NODE_ENV');
    expect(Object.keys(Globals.Function.Environment.Variables).sort()).toEqual(
      [...new Set(settings)].sort(),
    );
  });
});

/** Tests a merchant's code as an editor shows it, by TypeScript's own hover texts and problems. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-api';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILE = fileURLToPath(new URL('webhooks.ts', import.meta.url));
const text = readFileSync(FILE, 'utf8');
/** What compiles, and what must not: each line below a `@ts-expect-error` has a problem. */
const TYPES = ['core', 'next'].map((name) => `packages/${name}/test/types.test-d.ts`);

const { config } = ts.readConfigFile(`${ROOT}/tsconfig.json`, (path) => ts.sys.readFile(path)) as {
  config: unknown;
};
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
const service = ts.createLanguageService({
  ...ts.sys,
  useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
  getScriptFileNames: () => [FILE, ...TYPES.map((name) => ROOT + name)],
  getScriptVersion: () => '1',
  getScriptSnapshot: (path) => {
    const source = ts.sys.readFile(path);
    return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source);
  },
  getCompilationSettings: () => options,
  getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
});

// Reads every file before the first test, whose time limit would be too short.
service.getProgram();

/** Returns the type at the end of `code`, in one line. */
function shown(code: string): string {
  const info = service.getQuickInfoAtPosition(FILE, text.indexOf(code) + code.length);
  return ts.displayPartsToString(info?.displayParts).replace(/\s+/g, ' ');
}

test.for(['test/types/webhooks.ts', ...TYPES])(
  'the types accept and refuse what %s says',
  (name) => {
    const problems = service.getSemanticDiagnostics(ROOT + name);
    expect(problems.map(({ messageText }) => messageText)).toEqual([]);
  },
);

const REFUNDED = "{ 'payment.refunded': { reference: string; refund_id: string; }; }";
test('an editor shows a webhook with the payload types of its schemas', () => {
  expect(shown('express.paymentWebhook')).toBe(
    `const paymentWebhook: <${REFUNDED}>` +
      `(options: ReceiverOptions<SchemasOf<${REFUNDED}>, express.ExpressHost>, ` +
      `handlers: Handlers<SchemasOf<${REFUNDED}>, express.ExpressHost>) => ExpressHandler`,
  );
  expect(shown('const gate')).toBe('const gate: ExpressMiddleware');
});

test.for(['express', 'fastify', 'fetch', 'hono', 'koa', 'lambda', 'next', 'node'])(
  'an editor shows no schema type for %s',
  (adapter) => {
    const type = shown(`${adapter}.paymentWebhook`);
    expect(type).toContain(REFUNDED);
    expect(type).not.toContain('Zod');
  },
);

test('an editor shows the context of a handler by its short name', () => {
  expect(shown("'payment.refunded': (event, context")).toBe(
    '(parameter) context: HandlerContext<express.ExpressHost>',
  );
});

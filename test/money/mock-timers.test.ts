/** Timers that a test has mocked before it imports the app. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleScript, type Bundle } from '../servers/bundle.js';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleScript(new URL('mocked-shop.ts', import.meta.url));
});
afterAll(() => bundle.remove());

const SINON = `
  const fake = Object.assign(() => 1, { clock: {} });
  Object.assign(globalThis, { setTimeout: fake, setImmediate: fake, setInterval: fake });
  performance.now = () => 0;`;

it.each([
  ['node:test', `(await import('node:test')).mock.timers.enable();`],
  ['sinon, jest and vitest', SINON],
])(
  'answers a delivery and credits although %s has mocked the timers',
  { tags: 'Q18' },
  async (_, enable) => {
    const source = `
    ${enable}
    const { deliver } = await import(${JSON.stringify(bundle.path)});
    console.log(JSON.stringify(await deliver()));
    process.exit();`;
    const options = ['--no-warnings', '--input-type=module', '--eval', source];
    const { stdout } = await promisify(execFile)(process.execPath, options, { timeout: 20_000 });
    expect(JSON.parse(stdout)).toEqual({ status: 200, settled: 'paid', reconciled: 1 });
  },
);

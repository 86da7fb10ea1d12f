import { describe, expect, it } from 'vitest';
import { paylink } from './paylink.js';
import { environmentOf, MODULE } from './shop/index.js';

const NOBODY = { baseUrl: 'http://127.0.0.1:9/api', apiKey: 'sk_live_a.bcdefghi' };
const ARGS = ['doctor', '--module', MODULE];

describe('paylink doctor --module', () => {
  it('tests find and credit, and says which checks need more', async () => {
    const env = environmentOf(NOBODY, { rows: [] });
    const { code, stdout } = await paylink([...ARGS, '--yes'], { env });
    expect(stdout).toMatch(/ok +orders +20 simultaneous calls credit an order once/);
    expect(stdout).toMatch(/– +orders +not tested: .*tenant/);
    expect(stdout).toContain('nothing wrong was found');
    expect(code).toBe(0);
  });

  it('names the fault of credit, and exits with 1', async () => {
    const env = environmentOf(NOBODY, { rows: [], credit: 'changes no row' });
    const { code, stdout } = await paylink([...ARGS, '--yes', '--json'], { env });
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout) as {
      readonly checks: readonly { readonly ok: boolean | null; readonly message: string }[];
    };
    expect(checks.find(({ ok }) => ok === false)!.message).toMatch(/credit/);
  });

  it.each([
    ['nobody can say yes', [], /writes about a hundred orders[^]*add --yes/],
    ['there is one merchant', ['--yes', '--tenant', 'acme'], /name two merchants/],
    ['a webhook is named too', ['--yes', '--to', 'http://127.0.0.1:9/'], /cannot both be given/],
  ])('exits with 2 and tests nothing if %s', async (_, args, message) => {
    const env = environmentOf(NOBODY, { rows: [] });
    const result = await paylink([...ARGS, ...args], { env });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});

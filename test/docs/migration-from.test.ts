import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as core from '@paylink/core';
import { signedDelivery } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { blockOf, runBlock } from './blocks.js';

const SECRET = 'the secret of the portal';
const { rawBody, headers } = signedDelivery({ secret: SECRET, reference: 'order-42' });
const changed = Buffer.from(rawBody.toString().replace('42', '43'));
const signature = headers['x-service-signature']!;

/** The code in the first cells of the page's table: the old call, and its replacement. */
const rows = readFileSync(new URL('../../docs/migration-from.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(' | ').map((cell) => /`([^`]+)`/.exec(cell)?.[1]));

/** Runs a cell's code with these names. */
async function run(code: string, names: Readonly<Record<string, unknown>>): Promise<unknown> {
  const AsyncFunction = (async () => undefined).constructor as new (
    ...text: string[]
  ) => (...values: unknown[]) => Promise<unknown>;
  return new AsyncFunction(...Object.keys(names), `return ${code}`)(...Object.values(names));
}

describe('docs/migration-from.md', () => {
  it('has a function that returns the event of a genuine notification and refuses a changed one', async () => {
    const { eventOf } = (await runBlock(await blockOf('docs/migration-from.md', 'eventOf'), {
      env: { WEBHOOK_SECRET: SECRET },
    })) as { eventOf(rawBody: Uint8Array, headers: Headers): Promise<unknown> };
    expect(await eventOf(rawBody, new Headers(headers))).toMatchObject({
      type: 'payment.succeeded',
      reference: 'order-42',
    });
    expect(await eventOf(changed, new Headers(headers))).toBeUndefined();
  });

  it('replaces constructEvent with a call that returns the event or throws', async () => {
    const [, code] = rows.find(([before]) => before?.includes('constructEvent'))!;
    const names = { ...core, secret: SECRET, headers };
    expect(await run(code!, { ...names, rawBody })).toMatchObject({ reference: 'order-42' });
    await expect(run(code!, { ...names, rawBody: changed })).rejects.toMatchObject({
      code: 'invalid_signature',
    });
  });

  it('replaces a hand-written createHmac with a call that decides alike and refuses a second spelling', async () => {
    const [before, code] = rows.find(([cell]) => cell?.includes('createHmac'))!;
    const names = { ...core, createHmac, secret: SECRET, signature };
    expect(await run(before!, { ...names, body: rawBody })).toBe(true);
    await expect(run(code!, { ...names, rawBody })).resolves.toBeUndefined();
    expect(await run(before!, { ...names, body: changed })).toBe(false);
    await expect(run(code!, { ...names, rawBody: changed })).rejects.toMatchObject({
      code: 'invalid_signature',
    });
    await expect(
      run(code!, { ...names, rawBody, signature: signature.toUpperCase() }),
    ).rejects.toBeInstanceOf(Error);
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { paylink, SECRET } from './paylink.js';
import { signatureOf } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };
const BODY = '{"reference": "order-42", "note": "é"}';
const RIGHT = signatureOf(BODY);
const diagnose = (signature: string, stdin: string | Uint8Array, ...extra: string[]) =>
  paylink(['diagnose', '--signature', signature, ...extra], { env, stdin });

describe('paylink diagnose', () => {
  it('exits with 0 if the signature matches', async () => {
    const { code, stdout, stderr } = await diagnose(RIGHT, BODY);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^matches {2}The signature matches these bytes\.\n/);
  });

  // The tests of core try the causes.
  it.each([
    ['body_reserialized', true, RIGHT, JSON.stringify(JSON.parse(BODY)), []],
    ['signature_prefixed', true, `sha256=${RIGHT}`, BODY, []],
    ['secret_placeholder', false, RIGHT, BODY, ['--secret', 'undefined']],
  ])(
    'reports %s (proven: %s), exits with 1, and prints neither the signature nor the body',
    async (cause, isProven, signature, body, extra) => {
      const { code, stdout, stderr } = await diagnose(signature, body, ...extra);
      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^${cause}  \\S`));
      expect(stdout).toContain(isProven ? 'this change, the signature matches.' : 'Not certain');
      expect(stdout).not.toContain('order-42');
      expect(stdout).not.toContain(signature);
    },
  );

  it('prints the same as JSON, with the measures of the body', async () => {
    const body = `${BODY}\n`;
    const { code, stdout, stderr } = await diagnose(RIGHT, body, '--json');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const sha256 = createHash('sha256').update(body).digest('hex');
    expect(JSON.parse(stdout)).toMatchObject({
      matches: false,
      cause: 'body_newline',
      body: { bytes: Buffer.byteLength(body), sha256 },
    });
    expect(stdout).not.toContain('order-42');
    expect(stdout).not.toContain(RIGHT);
  });

  it('exits with 2 without a secret', async () => {
    const { code, stderr } = await paylink(['diagnose', '--signature', RIGHT]);
    expect(code).toBe(2);
    expect(stderr).toContain('no webhook secret');
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { API_KEY, paylink, SECRET } from './paylink.js';
import { signatureOf } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };
const BODY = '{"reference": "order-42", "note": "é"}';
const RIGHT = signatureOf(BODY);
const OF_ANOTHER = signatureOf(BODY, 'another-secret');
const diagnose = (signature: string, stdin: string | Uint8Array, ...extra: string[]) =>
  paylink(['diagnose', '--signature', signature, ...extra], { env, stdin });

describe('paylink diagnose', () => {
  it('exits with 0 if the signature matches', async () => {
    const { code, stdout, stderr } = await diagnose(RIGHT, BODY);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^matches {2}The signature matches these bytes\.\n/);
  });

  it.each([
    ['body_reserialized', RIGHT, JSON.stringify(JSON.parse(BODY)), []],
    ['body_newline', RIGHT, `${BODY}\n`, []],
    ['signature_uppercase', RIGHT.toUpperCase(), BODY, []],
    ['signature_prefixed', `sha256=${RIGHT}`, BODY, []],
    ['secret_blanks', RIGHT, BODY, ['--secret', `${SECRET}\n`]],
    ['secret_placeholder', RIGHT, BODY, ['--secret', 'undefined']],
    ['secret_api_key', RIGHT, BODY, ['--secret', API_KEY]],
    ['signature_missing', '', BODY, []],
    ['unknown', OF_ANOTHER, BODY, []],
  ])(
    'reports %s, exits with 1, and prints neither the signature nor the body',
    async (cause, signature, body, extra) => {
      const json = await diagnose(signature, body, ...extra, '--json');
      expect(json).toMatchObject({ code: 1, stderr: '' });
      const sha256 = createHash('sha256').update(body).digest('hex');
      const measured = { bytes: Buffer.byteLength(body), sha256 };
      expect(JSON.parse(json.stdout)).toMatchObject({ matches: false, cause, body: measured });
      const { code, stdout } = await diagnose(signature, body, ...extra);
      expect(code).toBe(1);
      expect(stdout).toMatch(new RegExp(`^${cause}  \\S`));
      for (const output of [stdout, json.stdout]) {
        expect(output).not.toContain('order-42');
        if (signature !== '') expect(output).not.toContain(signature);
      }
    },
  );

  it('says whether a cause is proven', async () => {
    const proven = await diagnose(RIGHT, `${BODY}\n`);
    expect(proven.stdout).toContain('without this change, the signature matches');
    expect((await diagnose(OF_ANOTHER, BODY)).stdout).toContain('Not certain');
  });

  it('exits with 2 without a signature or a secret', async () => {
    expect(await paylink(['diagnose'], { env })).toMatchObject({ code: 2, stdout: '' });
    const { code, stderr } = await paylink(['diagnose', '--signature', RIGHT]);
    expect(code).toBe(2);
    expect(stderr).toContain('no webhook secret');
  });
});

import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pasteCurl } from './curl.js';
import { API_KEY, newFolder, paylink, SECRET } from './paylink.js';
import { openShop } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };
const hmac = (body: string | Uint8Array, secret = SECRET): string =>
  createHmac('sha256', secret).update(body).digest('hex');

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(newFolder(), name);
  await writeFile(path, content);
  return path;
}

describe('paylink sign', () => {
  it('prints only the signature of the exact bytes', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d, 0x0a]);
    const stdout = `${hmac(bytes)}\n`;
    expect(await paylink(['sign'], { env, stdin: bytes })).toEqual({ code: 0, stdout, stderr: '' });
    expect(await paylink(['sign', '--body', await file('body.json', bytes)], { env })).toEqual({
      code: 0,
      stdout,
      stderr: '',
    });
  });

  it('signs like the vectors of RFC 4231 and Python', async () => {
    // RFC 4231, test case 2; hmac.new(b'portal-secret-0123', b'{"reference":"order-42"}',
    // 'sha256').
    const rfc = await paylink(['sign', '--secret', 'Jefe'], {
      stdin: 'what do ya want for nothing?',
    });
    expect(rfc.stdout).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843\n');
    const python = await paylink(['sign', '--secret', 'portal-secret-0123'], {
      stdin: '{"reference":"order-42"}',
    });
    expect(python.stdout).toBe(
      '99f34daf2c69e408ea37a133860ac370c5e67c2c1f31302b5f65c92a78ebfaf7\n',
    );
  });

  it('prints the headers of a notification', async () => {
    const { stdout } = await paylink(['sign', '--headers', '--event', 'payment.tested'], {
      env,
      stdin: '{}',
    });
    expect(stdout).toBe(
      `Content-Type: application/json\nX-Service-Event: payment.tested\nX-Service-Signature: ${hmac('{}')}\n`,
    );
    const json = await paylink(['sign', '--json'], { env, stdin: '{}' });
    expect(JSON.parse(json.stdout)).toEqual({
      signature: hmac('{}'),
      bytes: 2,
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Event': 'payment.succeeded',
        'X-Service-Signature': hmac('{}'),
      },
    });
  });

  it('prints a curl command that works in a shell, also if a name needs quotes', async () => {
    const shop = await openShop();
    const body = await file("it's $HOME; a body.json", '{"reference": "order-42"}\n');
    const { stdout } = await paylink(['sign', '--body', body, '--curl', `${shop.url}?a=b&c='d'`], {
      env,
    });
    expect(await pasteCurl(stdout)).toBe('{"received":true}');
    expect(shop.credited).toEqual(['order-42']);
  });

  it('prints a curl command that sends one request even if the URL contains curl patterns', async () => {
    const shop = await openShop();
    const body = await file('body.json', '{"reference":"order-42"}');
    const { stdout } = await paylink(
      ['sign', '--body', body, '--curl', `${shop.url}?to={a,b}&n=[1-3]`],
      { env },
    );
    expect(await pasteCurl(stdout)).toBe('{"received":true}');
    expect(shop.credited).toEqual(['order-42']);
  });

  it.each([
    [
      '--headers and --curl are both given',
      ['--headers', '--curl', 'http://localhost:1/'],
      /cannot both be given/,
    ],
    ['--curl is given without --body', ['--curl', 'http://localhost:1/'], /--curl needs --body/],
    [
      '--secret-file and --body are both stdin',
      ['--secret-file', '-'],
      /--secret-file and --body cannot both be read from stdin/,
    ],
    [
      '--secret and --secret-file are both given',
      ['--secret', 'abcdefgh', '--secret-file', '/dev/null'],
      /--secret and --secret-file cannot both be given/,
    ],
  ])('exits with 2 if %s', async (_, args, message) => {
    const result = await paylink(['sign', ...args], { env, stdin: SECRET });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});

describe('the secret', () => {
  const body = ['sign', '--body'];

  it('is taken from the flag, the file, PAYLINK_WEBHOOK_SECRET, WEBHOOK_SECRET or .env, in this order', async () => {
    const args = [...body, await file('body', '{}')];
    const all = { WEBHOOK_SECRET: 'second-variable', PAYLINK_WEBHOOK_SECRET: 'first-variable' };
    const secretFile = await file('secret', 'from-a-file\n');
    const envFile = await file('.env', 'WEBHOOK_SECRET="from-dot-env"\nNODE_OPTIONS=--none\n');
    const signedWith = async (
      extra: string[],
      variables: Record<string, string> = {},
    ): Promise<string> => (await paylink([...args, ...extra], { env: variables })).stdout.trim();
    expect(await signedWith(['--secret', 'from-a-flag', '--dotenv', envFile], all)).toBe(
      hmac('{}', 'from-a-flag'),
    );
    expect(await signedWith(['--secret-file', secretFile], all)).toBe(hmac('{}', 'from-a-file'));
    expect(await signedWith([], all)).toBe(hmac('{}', 'first-variable'));
    expect(await signedWith(['--dotenv', envFile], { WEBHOOK_SECRET: 'second-variable' })).toBe(
      hmac('{}', 'second-variable'),
    );
    expect(await signedWith(['--dotenv', envFile])).toBe(hmac('{}', 'from-dot-env'));
  });

  it('is read from stdin if --secret-file is -', async () => {
    const args = [...body, await file('body', '{}'), '--secret-file', '-'];
    expect((await paylink(args, { stdin: `${SECRET}\r\n` })).stdout.trim()).toBe(hmac('{}'));
  });

  it.each([
    ['is missing', {}, [], /no webhook secret\n {2}set WEBHOOK_SECRET/],
    ['is empty', {}, ['--secret', ''], /--secret is empty/],
    [
      'ends with a line break',
      { WEBHOOK_SECRET: 'abcdefgh\n' },
      [],
      /WEBHOOK_SECRET must not start or end with whitespace/,
    ],
    [
      'is a placeholder',
      { PAYLINK_WEBHOOK_SECRET: 'undefined' },
      [],
      /PAYLINK_WEBHOOK_SECRET is a placeholder/,
    ],
    ['is an API key', { WEBHOOK_SECRET: API_KEY }, [], /WEBHOOK_SECRET is an API key/],
    [
      'is in a file that does not exist',
      {},
      ['--secret-file', 'packages/cli/test/none.txt'],
      /--secret-file: .* cannot be read/,
    ],
  ])(
    'makes the command exit with 2 and name the source if it %s',
    async (_, variables, extra, message) => {
      const result = await paylink(['sign', ...extra], { env: variables });
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(message);
    },
  );
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { API_KEY, newFolder, paylink, words } from './paylink.js';
import { signatureOf } from './servers.js';

function file(name: string, content: string | Uint8Array): string {
  const path = join(newFolder(), name);
  writeFileSync(path, content);
  return path;
}

describe('the webhook secret', () => {
  it('is taken from the flag, the file, the environment or .env, in this order', async () => {
    const body = file('body', '{}');
    const dotenv = file('.env', 'WEBHOOK_SECRET="from-dot-env"\nNODE_OPTIONS=--none\n');
    const signedWith = async (line: string, secret: string): Promise<string> => {
      const args = words`trigger --print --json --body ${body} --dotenv ${dotenv} ${line.split(' ').filter(Boolean)}`;
      const variables = secret === '' ? {} : { WEBHOOK_SECRET: secret };
      const { stdout } = await paylink(args, { env: variables });
      return (JSON.parse(stdout) as { signature: string }).signature;
    };
    expect(await signedWith('--secret from-a-flag', 'a-variable')).toBe(
      signatureOf('{}', 'from-a-flag'),
    );
    expect(await signedWith(`--secret-file ${file('secret', 'from-a-file\r\n')}`, 'a-var')).toBe(
      signatureOf('{}', 'from-a-file'),
    );
    expect(await signedWith('', 'a-variable')).toBe(signatureOf('{}', 'a-variable'));
    expect(await signedWith('', '')).toBe(signatureOf('{}', 'from-dot-env'));
  });

  it('is refused from a file that is not UTF-8', async () => {
    const path = file('secret', Buffer.from('the-value-of-a-port\xe9', 'latin1'));
    const result = await paylink(words`trigger --print --reference a --secret-file ${path}`);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain('is not UTF-8 text');
  });

  it.each([
    ['is missing', {}, '', /no webhook secret\n {2}set WEBHOOK_SECRET/],
    [
      'ends with a line break',
      { WEBHOOK_SECRET: 'abcdefgh\n' },
      '',
      /WEBHOOK_SECRET must not start or end with whitespace/,
    ],
    [
      'is empty',
      {},
      '--secret=',
      /--secret is empty\n {2}is the shell variable behind this flag set/,
    ],
    ['is a placeholder', {}, '--secret undefined', /--secret is a placeholder/],
    ['is an API key', { WEBHOOK_SECRET: API_KEY }, '', /WEBHOOK_SECRET is an API key/],
    ['is in no file', {}, '--secret-file none.txt', /--secret-file: none\.txt cannot be read/],
    ['is in no .env', {}, '--dotenv none.env', /--dotenv: none\.env cannot be read/],
  ])(
    'makes the command exit with 2 and name the source if it %s',
    async (_, variables, line, message) => {
      const args = words`trigger --print --reference a ${line.split(' ').filter(Boolean)}`;
      const result = await paylink(args, { env: variables });
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(message);
    },
  );
});

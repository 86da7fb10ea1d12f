import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sign, verifySignature } from '../src/index.js';

const secret = 'a-secret-of-the-portal';
const text = '{"reference":"commande-é-🔑"}';

describe('sign', () => {
  it('gives the same for a text as for its UTF-8 bytes', async () => {
    const expected = createHmac('sha256', secret).update(text, 'utf8').digest('hex');
    expect(await sign(text, secret)).toBe(expected);
    expect(await sign(new TextEncoder().encode(text), secret)).toBe(expected);
  });

  it('refuses what a parser made of the body', async () => {
    await expect(sign(JSON.parse(text) as string, secret)).rejects.toMatchObject({ code: 'body_consumed' });
  });
});

describe('verifySignature', () => {
  it('resolves with nothing, so that there is no boolean to misread', async () => {
    await expect(verifySignature(Buffer.from(text), await sign(text, secret), secret)).resolves.toBeUndefined();
  });
});

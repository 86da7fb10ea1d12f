import { describe, expect, it } from 'vitest';
import { readBody } from '../src/read-body.js';

const limits = { bodyLimit: 65_536, bodyTimeout: 10_000 };

/** A request whose body comes in these pieces. */
function requestOf(...pieces: Uint8Array[]): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return new Request('http://localhost/', { method: 'POST', body, duplex: 'half' });
}

const piece = (length: number): Uint8Array => new Uint8Array(length).map((_, index) => index % 251);

describe('the memory of a body', () => {
  it('is that in which it came, where it came in one piece', async () => {
    const whole = piece(500);
    expect((await readBody(requestOf(whole), limits)).buffer).toBe(whole.buffer);
  });

  it.each([
    ['a block, for small pieces', [10, 10, 10], limits.bodyLimit, 4_096],
    ['a block that is full', [100, 1_896, 2_100], limits.bodyLimit, 4_096],
    ['twice what has come, beyond a block', [3_000, 3_000, 3_000], limits.bodyLimit, 12_000],
    ['no more than the limit', [10, 10], 100, 100],
    ['the limit, where it is reached', [3_000, 3_000, 3_000], 9_000, 9_000],
  ])('is %s', async (_what, lengths, bodyLimit, expected) => {
    const body = await readBody(requestOf(...lengths.map(piece)), { ...limits, bodyLimit });
    expect(Buffer.from(body).equals(Buffer.concat(lengths.map(piece)))).toBe(true);
    expect(body.buffer.byteLength).toBe(expected);
  });

  it('is not that of the sender’s pieces, where there are several', async () => {
    const [first, second] = [piece(10), piece(10)];
    const body = await readBody(requestOf(first, second), limits);
    first.fill(0);
    second.fill(0);
    expect(Buffer.from(body).equals(Buffer.concat([piece(10), piece(10)]))).toBe(true);
  });
});

describe('the length of a body', () => {
  it.each([[[0]], [[0, 5]], [[5, 0]], [[5, 0, 5]]])('is that of its pieces, also of empty ones: %j', async (lengths) => {
    const body = await readBody(requestOf(...lengths.map(piece)), limits);
    expect(Buffer.from(body).equals(Buffer.concat(lengths.map(piece)))).toBe(true);
  });

  it('may be the limit, and not one more', async () => {
    const exact = { ...limits, bodyLimit: 10 };
    expect(await readBody(requestOf(piece(4), piece(6)), exact)).toHaveLength(10);
    await expect(readBody(requestOf(piece(4), piece(7)), exact)).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('is 0 where there is no body', async () => {
    expect(await readBody(new Request('http://localhost/', { method: 'POST' }), limits)).toHaveLength(0);
  });
});

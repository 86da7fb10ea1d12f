import { describe, expect, it } from 'vitest';
import { collectBody } from '../src/collect-body.js';

const piece = (length: number): Uint8Array => new Uint8Array(length).map((_, index) => index % 251);

function collect(lengths: readonly number[], bodyLimit = 65_536): Promise<Uint8Array> {
  const pieces = lengths.map(piece);
  const read = async () => ({ done: pieces.length === 0, value: pieces.shift() });
  return collectBody({ read }, bodyLimit);
}

describe('collectBody', () => {
  it.each([[[]], [[0]], [[0, 5]], [[5, 0, 5]], [[7, 4_089, 1]], [Array(130).fill(64)]])(
    'returns every byte in order: pieces of %j bytes',
    async (lengths: number[]) => {
      const body = await collect(lengths);
      expect(Buffer.from(body).equals(Buffer.concat(lengths.map(piece)))).toBe(true);
    },
  );

  it('accepts exactly the limit, and throws body_too_large at one more byte', async () => {
    expect(await collect([4, 6], 10)).toHaveLength(10);
    const code = 'body_too_large';
    await expect(collect([4, 6, 1], 10)).rejects.toMatchObject({ code });
  });

  it.each([
    ['a block for small pieces', [10, 10, 10], 4_096],
    ['a block that is full', [100, 1_896, 2_100], 4_096],
    ['at most four times the received bytes beyond a block', [3_000, 3_000, 3_000], 12_000],
  ])('takes %s', async (_what, lengths, expected) => {
    expect((await collect(lengths)).buffer.byteLength).toBe(expected);
  });

  it('copies each piece, because a host may use its memory again', async () => {
    const memory = piece(10);
    let left = 2;
    const read = async () => ({ done: left-- === 0, value: memory.fill(left) });
    expect(Array.from(await collectBody({ read }, 20))).toEqual([
      ...Array<number>(10).fill(1),
      ...Array<number>(10).fill(0),
    ]);
  });

  it.each([[42], ['text'], [{ length: 5 }], [new ArrayBuffer(5)]])(
    'refuses a piece that is not bytes: %j',
    async (value) => {
      const read = () => Promise.resolve({ done: false, value: value as unknown as Uint8Array });
      await expect(collectBody({ read }, 20)).rejects.toThrow('a piece of the body is not bytes');
    },
  );
});

import { describe, expect, it } from 'vitest';
import { BodyCollector } from '../src/body-collector.js';

const piece = (length: number): Uint8Array => new Uint8Array(length).map((_, index) => index % 251);

function collect(lengths: readonly number[], bodyLimit = 65_536): BodyCollector {
  const collector = new BodyCollector(bodyLimit);
  for (const length of lengths) collector.add(piece(length));
  return collector;
}

describe('BodyCollector', () => {
  it.each([[[]], [[0]], [[0, 5]], [[5, 0, 5]], [[7, 4_089, 1]], [Array(130).fill(64)]])(
    'returns every byte in order: pieces of %j bytes',
    (lengths: number[]) => {
      const { body } = collect(lengths);
      expect(Buffer.from(body).equals(Buffer.concat(lengths.map(piece)))).toBe(true);
    },
  );

  it('accepts exactly the limit, and throws body_too_large at one more byte', () => {
    const collector = collect([4, 6], 10);
    expect(collector.body).toHaveLength(10);
    expect(() => collector.add(piece(1))).toThrow(
      expect.objectContaining({ code: 'body_too_large' }),
    );
  });

  it.each([
    ['a block for small pieces', [10, 10, 10], 4_096],
    ['a block that is full', [100, 1_896, 2_100], 4_096],
    ['at most four times the received bytes beyond a block', [3_000, 3_000, 3_000], 12_000],
  ])('takes %s', (_what, lengths, expected) => {
    expect(collect(lengths).body.buffer.byteLength).toBe(expected);
  });

  it('keeps a single piece as it is, and never writes to it', () => {
    const collector = new BodyCollector(20);
    const first = piece(10);
    collector.add(first);
    expect(collector.body.buffer).toBe(first.buffer);
    collector.add(piece(0));
    collector.add(piece(5));
    expect(collector.body).toEqual(new Uint8Array([...piece(10), ...piece(5)]));
    expect(first).toEqual(piece(10));
  });
});

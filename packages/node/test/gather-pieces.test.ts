import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { GatherPieces } from '../src/gather-pieces.js';

/** The pieces that come out of those that are written, before and after the end. */
async function gathered(limit: number, ...pieces: Buffer[]): Promise<readonly [before: number[], after: number[]]> {
  const gather = new GatherPieces(limit);
  const lengths: number[] = [];
  gather.on('data', (piece: Buffer) => lengths.push(piece.length));
  for (const piece of pieces) gather.write(piece);
  await turn();
  const before = lengths.splice(0);
  gather.end();
  await turn();
  return [before, lengths];
}

const pieces = (count: number, length: number): Buffer[] => Array.from({ length: count }, () => Buffer.alloc(length));

describe('small pieces', () => {
  it('come out in blocks, in their order and with every byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 10_000 }, (_, index) => index % 251));
    const gather = new GatherPieces(1_000_000);
    for (let at = 0; at < bytes.length; at += 7) gather.write(bytes.subarray(at, at + 7));
    gather.end();
    expect((await buffer(gather)).equals(bytes)).toBe(true);
  });

  it('are kept until their block is full, and the rest until the end', async () => {
    // 64 pieces of 64 bytes fill a block to the last byte.
    expect(await gathered(1_000_000, ...pieces(64, 64))).toEqual([[], [4_096]]);
    expect(await gathered(1_000_000, ...pieces(130, 64))).toEqual([[4_096, 4_096], [128]]);
  });

  it('fill each block to its last byte, also where one is longer than a block', async () => {
    expect(await gathered(1_000_000, Buffer.alloc(10), Buffer.alloc(5_000), Buffer.alloc(10))).toEqual([[4_096], [924]]);
    expect(await gathered(1_000_000, Buffer.alloc(5_000), Buffer.alloc(10))).toEqual([[5_000], [10]]);
    expect(await gathered(1_000_000, ...pieces(10, 1_500))).toEqual([[4_096, 4_096, 4_096], [2_712]]);
  });

  it('come out at once after the limit, so that the count behind it sees them', async () => {
    expect(await gathered(100, ...pieces(2, 50))).toEqual([[], [100]]);
    expect(await gathered(100, ...pieces(4, 50))).toEqual([[150, 50], []]);
  });

  it('are copied: what becomes of the piece that was written is not seen', async () => {
    const piece = Buffer.from('genuine');
    const gather = new GatherPieces(100);
    gather.write(piece);
    piece.fill('x');
    gather.end();
    expect((await buffer(gather)).toString()).toBe('genuine');
  });

  it('make nothing of nothing', async () => {
    expect(await gathered(100)).toEqual([[], []]);
  });
});

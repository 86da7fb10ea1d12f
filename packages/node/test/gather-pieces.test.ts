import { describe, expect, it, vi } from 'vitest';
import { GatherPieces } from '../src/gather-pieces.js';

/** The blocks that come out of the pieces that are written, before and after the end. */
function gathered(expected: number, ...pieces: unknown[]): readonly [before: Buffer[], after: Buffer[]] {
  const gather = new GatherPieces(expected);
  const blocks: Buffer[] = [];
  gather.on('data', (block: Buffer) => blocks.push(block));
  for (const piece of pieces) gather.write(piece);
  const before = blocks.splice(0);
  gather.end();
  return [before, blocks];
}

function lengths(expected: number, ...pieces: Buffer[]): number[][] {
  return gathered(expected, ...pieces).map((blocks) => blocks.map((block) => block.length));
}

const pieces = (count: number, length: number): Buffer[] => Array.from({ length: count }, () => Buffer.alloc(length));

describe('small pieces', () => {
  it('come out in blocks, in their order and with every byte', () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
    const sent = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) => bytes.subarray(index * 7, index * 7 + 7));
    expect(Buffer.concat(gathered(Infinity, ...sent).flat()).equals(bytes)).toBe(true);
  });

  it('are kept until their block is full, and the rest until the end', () => {
    // 64 pieces of 64 bytes fill a block to the last byte.
    expect(lengths(Infinity, ...pieces(64, 64))).toEqual([[], [4_096]]);
    expect(lengths(Infinity, ...pieces(130, 64))).toEqual([[4_096, 4_096], [128]]);
  });

  it('fill blocks that are as long as what has come, from 4 kB up to 16 kB', () => {
    expect(lengths(Infinity, ...pieces(66, 1_024))).toEqual([[4_096, 4_096, 8_192, 16_384, 16_384, 16_384], [2_048]]);
  });

  it('fill no block that is longer than what is still expected', () => {
    const blocks = gathered(5_000, ...pieces(50, 100)).flat();
    expect(blocks.map((block) => block.length)).toEqual([4_096, 904]);
    expect(blocks.map((block) => block.buffer.byteLength)).toEqual([4_096, 904]);
  });

  it('fill each block to its last byte, also where one is longer than a block', () => {
    expect(lengths(Infinity, Buffer.alloc(10), Buffer.alloc(5_000), Buffer.alloc(10))).toEqual([[4_096], [924]]);
    expect(lengths(Infinity, Buffer.alloc(20_000), Buffer.alloc(10))).toEqual([[20_000], [10]]);
  });

  it('come out at once after more than is expected, so that the count behind it sees them', () => {
    expect(lengths(100, ...pieces(2, 50))).toEqual([[], [100]]);
    expect(lengths(100, ...pieces(4, 50))).toEqual([[100, 50, 50], []]);
  });

  it('are copied: what becomes of the piece that was written is not seen', () => {
    const piece = Buffer.from('genuine');
    const gather = new GatherPieces(100);
    const seen = vi.fn();
    gather.on('data', (block: Buffer) => void seen(block.toString()));
    gather.write(piece);
    piece.fill('x');
    gather.end();
    expect(seen).toHaveBeenCalledWith('genuine');
  });

  it('may be texts and other bytes, as a stream of a hook gives them', () => {
    expect(Buffer.concat(gathered(100, 'né', new Uint8Array([33])).flat()).toString()).toBe('né!');
  });

  it('are an error where they are neither, and nothing is thrown at the stream', () => {
    const gather = new GatherPieces(100);
    const failed = vi.fn();
    gather.on('error', failed);
    gather.write(42);
    expect(failed).toHaveBeenCalledWith(expect.any(TypeError));
  });

  it('make nothing of nothing', () => {
    const gather = new GatherPieces(100);
    const ended = vi.fn();
    gather.on('data', () => expect.unreachable()).on('end', ended);
    gather.end();
    expect(ended).toHaveBeenCalledOnce();
  });
});

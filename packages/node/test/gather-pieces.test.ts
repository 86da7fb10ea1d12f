import { describe, expect, it, vi } from 'vitest';
import { GatherPieces } from '../src/gather-pieces.js';

/** The blocks that come out of the pieces that are written, before and after the end. */
function gathered(limit: number, ...pieces: unknown[]): readonly [before: Buffer[], after: Buffer[]] {
  return gatheredBy(new GatherPieces(limit), ...pieces);
}

function gatheredBy(gather: GatherPieces, ...pieces: unknown[]): readonly [before: Buffer[], after: Buffer[]] {
  const blocks: Buffer[] = [];
  gather.on('data', (block: Buffer) => blocks.push(block));
  for (const piece of pieces) gather.write(piece);
  const before = blocks.splice(0);
  gather.end();
  return [before, blocks];
}

function lengths(limit: number, ...pieces: Buffer[]): number[][] {
  return gathered(limit, ...pieces).map((blocks) => blocks.map((block) => block.length));
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

  it('fill no block that is longer than what was declared, and blocks as before beyond it', () => {
    const capacities = (declared: number, count: number): number[] =>
      gatheredBy(new GatherPieces(60_000, declared), ...pieces(count, 100))
        .flat()
        .map((block) => block.buffer.byteLength);
    expect(capacities(5_000, 50)).toEqual([4_096, 904]);
    expect(capacities(100, 100)).toEqual([100, 4_096, 4_196, 8_392]);
  });

  it('fill each block to its last byte, also where one is longer than a block', () => {
    expect(lengths(Infinity, Buffer.alloc(10), Buffer.alloc(5_000), Buffer.alloc(10))).toEqual([[4_096], [924]]);
    expect(lengths(Infinity, Buffer.alloc(20_000), Buffer.alloc(10))).toEqual([[20_000], [10]]);
  });

  it('come out at once after the limit, so that the count behind it sees them', () => {
    expect(lengths(100, ...pieces(2, 50))).toEqual([[], [100]]);
    expect(lengths(100, ...pieces(4, 50))).toEqual([[150, 50], []]);
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

  it.each([[42], [null], [{ length: 1e9 }], [[1, 2]], [{ type: 'Buffer', data: [1] }], [new DataView(new ArrayBuffer(1))]])(
    'are an error where they are neither, and nothing is thrown at the stream: %j',
    (piece) => {
      const gather = new GatherPieces(100);
      const failed = vi.fn();
      gather.on('error', failed).on('data', () => expect.unreachable());
      gather.write(piece);
      expect(failed).toHaveBeenCalledExactlyOnceWith(expect.any(TypeError));
      gather.end();
    },
  );

  it('are let go of', () => {
    const gather = new GatherPieces(100);
    const closed = vi.fn();
    gather.on('close', closed).on('data', () => expect.unreachable());
    gather.write(Buffer.alloc(10));
    gather.close();
    expect(closed).toHaveBeenCalledOnce();
    gather.end();
  });

  it('make nothing of nothing', () => {
    const gather = new GatherPieces(100);
    const ended = vi.fn();
    gather.on('data', () => expect.unreachable()).on('end', ended);
    gather.end();
    expect(ended).toHaveBeenCalledOnce();
  });
});

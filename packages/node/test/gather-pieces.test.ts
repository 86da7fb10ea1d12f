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

/** Of the memory that so many pieces end in. */
function capacityAfter(declared: number, count: number, length: number): number {
  const [, [block]] = gatheredBy(new GatherPieces(60_000, declared), ...pieces(count, length));
  return block!.buffer.byteLength;
}

function lengths(limit: number, ...pieces: Buffer[]): number[][] {
  return gathered(limit, ...pieces).map((blocks) => blocks.map((block) => block.length));
}

const pieces = (count: number, length: number): Buffer[] => Array.from({ length: count }, () => Buffer.alloc(length));

describe('small pieces', () => {
  it('come out at the end, in one block, in their order and with every byte', () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
    const sent = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) => bytes.subarray(index * 7, index * 7 + 7));
    expect(gathered(Infinity, ...sent)).toEqual([[], [bytes]]);
  });

  it('leave room for a half of what has come, and for 4 kB at least', () => {
    expect(capacityAfter(Infinity, 1, 10)).toBe(4_106);
    expect(capacityAfter(Infinity, 410, 10)).toBe(4_106);
    expect(capacityAfter(Infinity, 411, 10)).toBe(8_206);
    expect(capacityAfter(Infinity, 1, 20_000)).toBe(30_000);
  });

  it('leave no room for more than was declared, unless more comes, nor for more than the limit', () => {
    expect(capacityAfter(5_000, 10, 100)).toBe(4_196);
    expect(capacityAfter(5_000, 50, 100)).toBe(5_000);
    expect(capacityAfter(100, 1, 100)).toBe(100);
    expect(capacityAfter(100, 2, 100)).toBe(4_296);
    expect(capacityAfter(Infinity, 1, 59_000)).toBe(60_000);
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

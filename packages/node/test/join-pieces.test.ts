import { finished } from 'node:stream/promises';
import { describe, expect, it, vi } from 'vitest';
import { JoinPieces } from '../src/join-pieces.js';

/** Writes the pieces, and returns the blocks that come out before and after the end. */
async function join(...pieces: unknown[]): Promise<[before: Buffer[], after: Buffer[]]> {
  const joined = new JoinPieces();
  const blocks: Buffer[] = [];
  joined.on('data', (block: Buffer) => blocks.push(block));
  for (const piece of pieces) await new Promise((resolve) => joined.write(piece, resolve));
  const before = blocks.splice(0);
  joined.end();
  await finished(joined);
  return [before, blocks];
}

async function lengths(...pieces: Buffer[]): Promise<number[][]> {
  return (await join(...pieces)).map((blocks) => blocks.map(({ length }) => length));
}

const pieces = (count: number, length: number): Buffer[] =>
  Array.from({ length: count }, () => Buffer.alloc(length));

describe('JoinPieces', () => {
  it('passes every byte on, in order', async () => {
    const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, index) => index % 251));
    const sent: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 7) sent.push(bytes.subarray(at, at + 7));
    const blocks = await join(...sent, bytes, Buffer.from('end'));
    const all = Buffer.concat([bytes, bytes, Buffer.from('end')]);
    expect(Buffer.concat(blocks.flat()).equals(all)).toBe(true);
  });

  it('keeps small pieces until a block of 4 kB is full, and the rest until the end', async () => {
    expect(await lengths(...pieces(130, 64))).toEqual([[4_096, 4_096], [128]]);
  });

  it('passes a large piece on without a copy', async () => {
    const large = Buffer.alloc(5_000);
    const [before] = await join(Buffer.alloc(10), large);
    expect(before.map(({ length }) => length)).toEqual([10, 5_000]);
    expect(before[1]).toBe(large);
  });

  it('keeps blocks outside the shared pool, which would live as long as they do', async () => {
    const blocks = (await join(...pieces(200, 64))).flat();
    for (const { buffer } of blocks) expect(buffer.byteLength).toBe(4_096);
  });

  it('copies small pieces, so that a later change of them is not seen', async () => {
    const piece = Buffer.from('genuine');
    const joined = new JoinPieces();
    const seen = vi.fn();
    joined.on('data', (block: Buffer) => void seen(block.toString()));
    joined.write(piece);
    piece.fill('x');
    joined.end();
    await finished(joined);
    expect(seen).toHaveBeenCalledExactlyOnceWith('genuine');
  });

  it('takes text and other bytes, as a stream of a hook gives them', async () => {
    const blocks = await join('né', new Uint8Array([33]));
    expect(Buffer.concat(blocks.flat()).toString()).toBe('né!');
  });

  it.each([[42], [{ length: 1e9 }], [[1, 2]], [new DataView(new ArrayBuffer(1))]])(
    'fails for a piece that is neither, and throws nothing at its source: %j',
    async (piece) => {
      const joined = new JoinPieces();
      joined.write(piece);
      await expect(finished(joined)).rejects.toBeInstanceOf(TypeError);
    },
  );
});

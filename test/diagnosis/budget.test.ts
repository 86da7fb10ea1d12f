import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { forgedBodies } from './forged-bodies.js';
import type { Cost } from './slices.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const FLAGS = ['--single-threaded', '--no-opt', '--conditions=@paylink/source', '--import', 'tsx'];

describe('the diagnosis that a receiver starts', () => {
  it('N14 works at most 5 ms at a time and 20 ms per second', { timeout: 120_000 }, () => {
    const output = execFileSync(process.execPath, [...FLAGS, at('./slices.ts')], {
      encoding: 'utf8',
    });
    const costs = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Cost);
    expect(costs).toHaveLength(forgedBodies.length);
    expect(costs.filter(({ longest }) => longest >= 5)).toEqual([]);
    expect(costs.filter(({ used, rested }) => used / (used + rested) >= 0.02)).toEqual([]);
  });
});

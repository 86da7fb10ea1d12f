import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { forgedBodies } from './forged-bodies.js';
import type { Costs } from './slices.js';
import { ON_SOURCES } from '../../scripts/source.mjs';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const ENGINE = ['--single-threaded', '--no-opt', '--expose-gc'];
const FLAGS = [...ENGINE, ...ON_SOURCES];

/** Milliseconds that the yardstick takes on a usual server. A slower machine has longer slices. */
const USUAL = 3;

describe('the diagnosis that a receiver starts', () => {
  it('N14 works at most 5 ms at a time and 20 ms per second', { timeout: 120_000 }, () => {
    const output = execFileSync(process.execPath, [...FLAGS, at('./slices.ts')], {
      encoding: 'utf8',
    });
    const { yardstick, costs } = JSON.parse(output) as Costs;
    const limit = 5 * Math.max(1, yardstick / USUAL);
    expect(costs).toHaveLength(forgedBodies.length);
    expect(costs.filter(({ longest }) => longest >= limit)).toEqual([]);
    expect(costs.filter(({ share }) => share >= 0.02)).toEqual([]);
  });
});

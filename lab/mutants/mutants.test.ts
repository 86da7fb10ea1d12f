import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changedLines } from './changed.js';
import { isMessage } from './ignore-messages.mjs';
import type { Mutant } from './run.js';
import { scores } from './survivors.js';

const FILE = 'packages/core/src/price.ts';
const source = 'export function isPaid(amount: number) {\n  return amount > 0;\n}\n';
const mutant = (status: Mutant['status'], replacement: string, statusReason = ''): Mutant => ({
  mutatorName: 'EqualityOperator',
  status,
  statusReason,
  replacement,
  location: { start: { line: 2, column: 10 }, end: { line: 2, column: 20 } },
});
const reportOf = (...mutants: readonly Mutant[]) => ({ files: { [FILE]: { source, mutants } } });

describe('the survivors', () => {
  it('are what no test notices; a hang, and an error outside of the tests, are noticed', () => {
    const report = reportOf(
      mutant('Killed', 'true'),
      mutant('Timeout', 'false'),
      mutant('RuntimeError', 'amount < 0', 'An error occurred outside of a test run: Error'),
      mutant('RuntimeError', 'amount <= 0', 'the runner broke'),
      mutant('Ignored', '""'),
      mutant('NoCoverage', 'amount >= 0'),
      mutant('Survived', 'amount > 1'),
    );
    const [score] = scores(report);
    expect(score).toMatchObject({ file: FILE, noticed: 3 });
    expect(
      score!.survivors.map(({ at, from, to, isCovered }) => [at, from, to, isCovered]),
    ).toEqual([
      [2, 'amount > 0', 'amount <= 0', true],
      [2, 'amount > 0', 'amount >= 0', false],
      [2, 'amount > 0', 'amount > 1', true],
    ]);
  });
});

describe('what is not mutated', () => {
  it.each([
    'must be a function',
    'unknown option 0. Valid options: 0',
    '[paylink] secret is short',
  ])('is a text for people: %s', (text) => {
    expect(isMessage(text)).toBe(true);
  });

  it.each(['invalid_signature', 'x-service-event', ', ', ' (0: 0)', 'SELECT key FROM marks', ''])(
    'is not a code, a name or a statement: %s',
    (text) => {
      expect(isMessage(text)).toBe(false);
    },
  );
});

describe('what changed', () => {
  it('is the lines of sources that were added or changed, and no line that was taken out', () => {
    const root = mkdtempSync(join(tmpdir(), 'paylink-changed-'));
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: root,
      });
    const write = (path: string, lines: readonly (string | number)[]) => {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), `${lines.join('\n')}\n`);
    };
    try {
      git('init', '--quiet');
      write('packages/core/src/a.ts', [1, 2, 3, 4, 5, 6, 7, 8]);
      write('packages/core/src/gone.ts', [1]);
      write('packages/core/test/a.test.ts', [1]);
      git('add', '.');
      git('commit', '--quiet', '--message', 'first');
      write('packages/core/src/a.ts', [1, 'two', 'and', 3, 5, 6, 7, 'eight']);
      write('packages/core/src/deep/new.ts', [1, 2]);
      write('packages/core/test/a.test.ts', [2]);
      rmSync(join(root, 'packages/core/src/gone.ts'));
      git('add', '.');
      expect(changedLines(root, 'HEAD')).toEqual([
        'packages/core/src/a.ts:2-3',
        'packages/core/src/a.ts:8-8',
        'packages/core/src/deep/new.ts:1-2',
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

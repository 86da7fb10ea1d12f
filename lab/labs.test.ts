/** Judges outputs without running a proof, and checks exit codes that could be confused. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { judge, LABS } from './labs.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

describe('a proof', () => {
  it.each([
    [
      'simulation',
      '500 histories (postgres) from seed 1: 0 violations',
      '0 histories (postgres) from seed 1: 0 violations',
    ],
    ['properties', '20,000 cases, 0 failed', '0 cases, 0 failed'],
    ['mutants', '83 mutants, 0 faults', '0 mutants, 0 faults'],
    ['prove', '190 of 190 faults found, 0 false alarms', '0 of 0 faults found, 0 false alarms'],
    ['engines', '5 engines, 0 faults', '0 engines, 0 faults'],
  ])('falls short where none ran: %s', async (name, some, none) => {
    const saying = (text: string, code = 0) =>
      judge(LABS[name]!, () => Promise.resolve({ code, text: `${text}\n` }));
    expect((await saying(some)).short).toEqual([]);
    expect((await saying(none)).short).toEqual([none]);
    expect((await saying(some, 1)).short).toEqual([some]);
    expect((await saying('')).short).toHaveLength(1);
  });

  it('falls short where a broken design is not caught, or its run has another exit code', async () => {
    const catching = (code: number) =>
      judge(LABS['broken-designs']!, (args) =>
        Promise.resolve(
          args.includes('--designs') ? { code: 0, text: 'no-fence\n' } : { code, text: '' },
        ),
      );
    expect(await catching(1)).toMatchObject({ count: '1', short: [] });
    for (const code of [0, 2])
      expect((await catching(code)).short).toEqual([`no-fence: ended with ${code}\n`]);
  });
});

const COMMANDS = ['durability', 'engines', 'hosts', 'mutants', 'properties', 'simulation'].map(
  (name) => `lab/${name}/main.ts`,
);

it.each(COMMANDS)('%s ends with 2 on an option that it does not know', (file) => {
  const args = ['--conditions=@paylink/source', '--import', 'tsx', file, '--sead', '1'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/Unknown option '--sead'/);
  expect(stderr).not.toMatch(/\n {4}at /);
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { paylink, start } from './paylink.js';

const COMMANDS = [
  'init',
  'emulate',
  'trigger',
  'audit',
  'doctor',
  'diagnose',
  'sign',
  'links create',
  'payments get',
];

async function helpOf(command: string): Promise<string> {
  const { code, stdout, stderr } = await paylink([...command.split(' '), '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('the help', () => {
  it('shows a first command, every command in its group and the exit codes', async () => {
    const { stdout: help } = await paylink(['--help']);
    const groups = Array.from(help.matchAll(/^(\w.*):\n {2}\w/gm), ([, heading]) => heading);
    expect(groups).toEqual(
      expect.arrayContaining(['Project', 'Run the service', 'Check a receiver']),
    );
    for (const command of COMMANDS)
      expect(help).toMatch(new RegExp(`^  ${command.split(' ')[0]!} `, 'm'));
    expect(help).toContain('paylink emulate --webhook http://localhost:3000/webhooks/payments');
    expect(help).toMatch(/Exit codes:\n {2}0 {2}.*\n {2}1 {2}.*\n {2}2 {2}/);
  });

  it.each(COMMANDS)('of %s lists examples, variables, exit codes and --json', async (command) => {
    const help = await helpOf(command);
    expect(help).toMatch(/\nExamples:\n {2}# .*\n {2}\$ .*paylink /);
    expect(help).toMatch(/\nEnvironment:\n {2}(PAYLINK_|WEBHOOK_|DATABASE_)/);
    expect(help).toMatch(/\nExit codes:\n {2}0 {2}/);
    expect(help).toMatch(/^ +--json /m);
    expect(help).toMatch(/^ +--dotenv /m);
  });

  it.each(COMMANDS)('of %s shows only existing options in its examples', async (command) => {
    const help = await helpOf(command);
    const known = new Set(
      Array.from(help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm), ([, name]) => name),
    );
    const lines = Array.from(help.matchAll(/^ {2}\$ .*?(paylink .*)$/gm), ([, line]) => line!);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) {
      expect(line).toContain(`paylink ${command}`);
      for (const [option] of line.matchAll(/--[a-z][\w-]*/g)) expect(known).toContain(option);
    }
  });

  it('is printed without a command, with exit code 2', async () => {
    expect(await paylink([])).toMatchObject({ code: 2, stdout: '' });
    expect(await paylink(['links', 'list'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('paylink links --help lists the commands') as string,
    });
    expect((await paylink(['help', 'trigger'])).stdout).toBe(await helpOf('trigger'));
  });

  it('comes with --version, which prints the version of the package', async () => {
    const manifest = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    ) as { version: string };
    expect(await paylink(['--version'])).toEqual({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: '',
    });
  });
});

describe('a mistake on the command line', () => {
  it.each([
    [
      ['emualte'],
      /unknown command 'emualte'\n\(Did you mean emulate\?\)\npaylink --help has examples/,
    ],
    [
      ['trigger', '--sceret', 'x'],
      /unknown option '--sceret'\n\(Did you mean --secret\?\)\npaylink trigger --help has examples/,
    ],
    [
      ['links', 'create', '--amount', '1.5'],
      /'--amount <n>' argument '1.5' is invalid. It must be a whole number/,
    ],
    [
      ['payments', 'get'],
      /missing required argument 'reference'\npaylink payments get --help has examples/,
    ],
  ])('exits with 2 and a hint: %j', async (args, message) => {
    const result = await paylink(args);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });

  it('is reported without the value if an option is misspelt', async () => {
    for (const args of [
      ['trigger', '--sercet=whsec-0123456789'],
      ['sign', "--sercet=it's-whsec-0123456789\n'"],
    ]) {
      const { code, stderr } = await paylink(args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/unknown option '--sercet'/);
      expect(stderr).not.toContain('whsec-0123456789');
    }
  });

  it('is quoted without terminal control characters', async () => {
    const { stderr } = await paylink(['\u001b]0;title\u0007']);
    expect(stderr).toContain(String.raw`\x1b]0;title\x07`);
    expect(stderr).not.toContain('\u001b');
  });
});

describe('colours', () => {
  const args = [
    'trigger',
    '--to',
    'http://127.0.0.1:9/',
    '--reference',
    'a',
    '--secret',
    'abcdefgh12345678',
  ];

  it('are not used in a pipe or with NO_COLOR', async () => {
    for (const env of [{}, { CI: '1' }, { FORCE_COLOR: '1', NO_COLOR: '1' }]) {
      const { stdout, stderr } = await paylink(args, { env });
      expect(`${stdout}${stderr}${(await paylink(['--help'], { env })).stdout}`).not.toContain(
        '\u001b',
      );
    }
  });

  it('can be forced by FORCE_COLOR, but never in JSON', async () => {
    const env = { FORCE_COLOR: '1' };
    expect((await paylink(args, { env })).stdout).toContain('\u001b[');
    expect((await paylink(['--help'], { env })).stdout).toContain('\u001b[1mUsage:');
    expect((await paylink([...args, '--json'], { env })).stdout).not.toContain('\u001b');
  });
});

it('a command exits without a stack trace if its output pipe closes early', async () => {
  const running = start(['emulate', '--port', '0']);
  running.child.stdout.destroy();
  const { code, stderr } = await running.result();
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { paylink, words } from './paylink.js';

const COMMANDS = [
  ...['init', 'emulate', 'pay', 'fail', 'cancel', 'links create', 'payments get'],
  ...['trigger', 'doctor', 'audit', 'listen', 'diagnose', 'sign'],
  ...['explain', 'reconcile', 'verify'],
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
      expect.arrayContaining(['Project', 'Run the service', 'Check a receiver', 'Money']),
    );
    for (const command of COMMANDS)
      expect(help).toMatch(new RegExp(`^  ${command.split(' ')[0]!} `, 'm'));
    expect(help).toContain('paylink emulate --webhook http://localhost:3000/webhooks/payments');
    expect(help).toMatch(/Exit codes:\n {2}0 {4}.*\n {2}1 {4}.*\n {2}2 {4}.*\n {2}3 {4}/);
  });

  it.each(COMMANDS)('of %s shows only existing options in its examples', async (command) => {
    const help = await helpOf(command);
    const known = Array.from(help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm), ([, name]) => name);
    expect(known).toEqual(expect.arrayContaining(['--json', '--dotenv']));
    const lines = Array.from(help.matchAll(/^ {2}\$ .*?(paylink .*)$/gm), ([, line]) => line!);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line).toContain(`paylink ${command}`);
      for (const [option] of line.matchAll(/--[a-z][\w-]*/g)) expect(known).toContain(option);
    }
  });

  it('is printed without a command, with exit code 2', async () => {
    expect(await paylink([])).toMatchObject({ code: 2, stdout: '' });
    expect((await paylink(['links', 'list'])).code).toBe(2);
    expect((await paylink(['help', 'trigger'])).stdout).toBe(await helpOf('trigger'));
  });

  it('comes with --version, which prints the version of the package', async () => {
    const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(file) as { readonly version: string };
    expect(await paylink(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('a mistake on the command line', () => {
  it.each([
    ['emualte', /unknown command 'emualte'\n\(Did you mean emulate\?\)\n/],
    [
      'trigger --to http://a --sceret x',
      /unknown option '--sceret'\n\(Did you mean --secret\?\)\n/,
    ],
    ['payments get', /missing required argument 'reference'\n/],
    ['trigger --reference a', /required option '--to <url>' not specified\n/],
    ['reconcile', /required option '--module <file>' not specified\n/],
    ['emulate --port 65536', /'--port <port>' is invalid. It must be .* from 0 to 65535/],
    ['emulate --port 1.5', /'--port <port>' is invalid. It must be a whole number/],
    [
      'audit --to http://a --timeout 0s',
      /'--timeout <time>' is invalid. It must be a time such as/,
    ],
    ['audit --to shop', /'--to <url>' is invalid. It must be an http or https URL/],
    ['audit --to file:///etc/passwd', /'--to <url>' is invalid. It must be an http or https URL/],
    ['trigger --field amount', /'--field <name=value>' is invalid. .*name=value/],
    ['trigger --header X-Token', /'--header <header>' is invalid. .*Name: value/],
  ])('exits with 2 and a hint: %s', async (line, message) => {
    const result = await paylink(line.split(' '));
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).toContain('Add --help for the options and examples.');
  });

  it.each([
    [['trigger', '--sercet=s3cret-0123456789']],
    [['sign', "--sercet=it's-s3cret-0123456789\n'"]],
    [['trigger', '--to', 'http://u:s3cret-0123456789@localhost/']],
    [['trigger', '--header', "s3cret-0123456789' is invalid.\n"]],
  ])('is reported without its value, which may be a secret: %j', async (args) => {
    const { code, stderr } = await paylink(args);
    expect(code).toBe(2);
    expect(stderr).not.toContain('s3cret');
  });

  it('is quoted without terminal control characters', async () => {
    const { stderr } = await paylink(['\u001b]0;title\u0007']);
    expect(stderr).toContain(String.raw`\x1b]0;title\x07`);
    expect(stderr).not.toContain('\u001b');
  });
});

describe('colours', () => {
  const args = words`trigger --to http://127.0.0.1:9/ --reference a --secret abcdefgh12345678`;

  it.each([{}, { CI: '1' }, { NO_COLOR: '1' }])('are not used in a pipe with %j', async (env) => {
    const { stdout, stderr } = await paylink(args, { env });
    const help = (await paylink(['--help'], { env })).stdout;
    expect(`${stdout}${stderr}${help}`).not.toContain('\u001b');
  });

  it('can be forced by FORCE_COLOR, but never in JSON', async () => {
    const env = { FORCE_COLOR: '1' };
    expect((await paylink(args, { env })).stdout).toContain('\u001b[');
    expect((await paylink(['--help'], { env })).stdout).toContain('\u001b[1mUsage:');
    expect((await paylink([...args, '--json'], { env })).stdout).not.toContain('\u001b');
  });
});

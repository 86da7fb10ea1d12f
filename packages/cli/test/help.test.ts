import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { paylink, paylinkProcess, words } from './paylink.js';

const COMMANDS = [
  ...['init', 'emulate', 'pay', 'fail', 'cancel', 'links create', 'payments get'],
  ...['trigger', 'doctor', 'audit', 'diagnose'],
  ...['torture', 'explain', 'reconcile', 'verify'],
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
    expect(help).toMatch(/Exit codes:\n {2}0 {4}.*\n {2}1 {4}.*\n {2}2 {4}.*\n {2}130 {2}/);
  });

  it.each(COMMANDS)('shows only existing options in the examples of %s', async (command) => {
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
    const help = await paylink(['help', 'trigger']);
    expect(help).toEqual({ code: 0, stdout: await helpOf('trigger'), stderr: '' });
  });

  it('fails for an unknown command, and suggests a known one', async () => {
    const stderr = "error: unknown command 'nope'\nAdd --help for the options and examples.\n";
    expect(await paylink(['help', 'nope'])).toEqual({ code: 2, stdout: '', stderr });
    const misspelt = await paylink(['help', 'tirgger']);
    expect(misspelt).toMatchObject({ code: 2, stdout: '' });
    expect(misspelt.stderr).toContain('(Did you mean trigger?)');
  });

  it.each(['bash', 'zsh', 'fish'])('can be completed in %s', async (shell) => {
    const { code, stdout, stderr } = await paylink(['complete', shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('paylink complete --');
    const options = await paylink(['complete', '--', 'trigger', '--pri']);
    expect(options.stdout).toMatch(/^--print\t/);
    expect((await paylink(['complete', '--', 'diag'])).stdout).toMatch(/^diagnose\t/);
  });

  it('comes with --version, which prints the version of the package', async () => {
    const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(file) as { readonly version: string };
    expect(await paylink(['--version'])).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
  });
});

describe('a mistake on the command line', () => {
  it.each([
    ['emualte', /unknown command 'emualte'\n\(Did you mean emulate\?\)\n/],
    ['trigger --sceret x', /unknown option '--sceret'\n\(Did you mean --secret\?\)\n/],
    ['payments get', /missing required argument 'reference'\n/],
    ['reconcile', /required option '--module <file>' not specified\n/],
    ['emulate --port 65536', /'--port <port>' is invalid. It must be .* from 0 to 65535/],
    ['emulate --port 1.5', /'--port <port>' is invalid. It must be a whole number/],
    ['audit --timeout 0s', /'--timeout <time>' is invalid. It must be a time such as/],
    ['audit --to shop', /'--to <url>' is invalid. It must be an http or https URL/],
    ['audit --to file:///etc/passwd', /'--to <url>' is invalid. It must be an http or https URL/],
    ['links create --amount 1', /required option '--reference <reference>' not specified\n/],
    ['links create --reference a --amount 0', /It must be a whole number from 1 to/],
    ['links create --reference a --amount 1 --amount-min 1', /'--amount <n>' cannot be used/],
    ['trigger --secret abcdefgh --secret-file key', /'--secret-file <path>' cannot be used with/],
    ['pay a --api-key a --api-key-file b', /'--api-key-file <path>' cannot be used with/],
    ['doctor --module a.js --to http://a', /'--to <url>' cannot be used with .* '--module <file>'/],
    ['trigger --to http://a --body - --reference a', /'--body <file>' cannot be used with/],
    ['trigger payment.succeeded a --to http://a', /too many arguments/],
    ['emulate --assume refuse', /'--assume <name=value>' is invalid. .*name=value/],
    ['trigger --header X-Token', /'--header <header>' is invalid. .*Name: value/],
  ])('is refused with a hint: %s', async (line, message) => {
    const result = await paylink(line.split(' '));
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).toContain('Add --help for the options and examples.');
  });

  it.each([
    [['trigger', '--sercet=s3cret-0123456789']],
    [['diagnose', "--sercet=it's-s3cret-0123456789\n'"]],
    [['trigger', '--to', 'http://u:s3cret-0123456789@localhost/']],
    [['trigger', '--header', "s3cret-0123456789' is invalid.\n"]],
  ])('is reported without its value, which may be a secret: %j', async (args) => {
    const { code, stderr } = await paylink(args);
    expect(code).toBe(2);
    expect(stderr).not.toContain('s3cret');
  });

  it('exits with 2, and is quoted without terminal control characters', async () => {
    const { code, stdout, stderr } = await paylinkProcess(['\u001b]0;title\u0007']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
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

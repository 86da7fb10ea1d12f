import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { freePort } from '../servers/starting.js';
import { withItsOwn } from '../packaging/pack.js';
import { tarballs } from '../packaging/packed.js';

/** A reader's step with a quick start's block, in the order of the page. */
export type Step =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | { readonly kind: 'run'; readonly command: string; readonly ownTerminal: boolean }
  | { readonly kind: 'output'; readonly text: string };

const FENCE = /^```(\w+)\n(.*?)^```$/gms;
const TITLE = /^(?:\/\/|#|--) ((?:[\w[\].-]+\/)*[\w[\].-]*\.[\w.]+)$/;
const OWN_TERMINAL = '# another terminal';

/**
 * Reads a quick start. Runs `sh` blocks, in a new terminal if the first line says so. Expects
 * `text` blocks as output, with `…` for varying parts. Every other block is a file, named by its
 * first line.
 *
 * @throws Error for a block without a title
 */
export function stepsOf(markdown: string): Step[] {
  return Array.from(markdown.matchAll(FENCE), ([, language, text]): Step => {
    const [first = ''] = text!.split('\n');
    if (language === 'sh')
      return { kind: 'run', command: text!, ownTerminal: first.startsWith(OWN_TERMINAL) };
    if (language === 'text') return { kind: 'output', text: text!.trimEnd() };
    const path = TITLE.exec(first)?.[1];
    if (path === undefined)
      throw new Error(`a block of ${language} has no line that names its file: ${first}`);
    return { kind: 'file', path, text: text! };
  });
}

/** A reader of a quick start, in an empty folder. */
export interface Reader {
  readonly folder: string;
  do(step: Step): Promise<void>;
  /** Ends the processes in other terminals, and deletes the folder. */
  close(): Promise<void>;
}

/** Stand-ins for parts of a reader's machine. */
export interface StandIns {
  /** Free ports by the ports of the page. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Folders of packages by what the page installs, such as `supabase@2`. */
  readonly packages?: Readonly<Record<string, string>>;
  /** The folder of another Node, in front of the path. */
  readonly node?: string;
}

export async function startReader(standIns: StandIns = {}): Promise<Reader> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'paylink-quick-start-')));
  // Another server may use the page's ports.
  const ports = new Map([
    ['3000', await freePort()],
    ['4010', await freePort()],
    ...Object.entries(standIns.ports ?? {}),
  ]);
  const terminals: Terminal[] = [];
  let current = folder;
  let last: Terminal | undefined;

  const write = async ({ path, text }: { path: string; text: string }): Promise<void> => {
    const file = join(current, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, withPorts(text, ports));
  };

  const run = async (command: string, ownTerminal: boolean): Promise<void> => {
    const said = Object.entries(standIns.packages ?? {}).reduce(
      (line, [name, folder]) => line.replaceAll(` ${name}`, ` ${folder}`),
      withPorts(command, ports),
    );
    last = openTerminal(fromTarballs(said), current, environment(standIns.node));
    if (ownTerminal) {
      terminals.push(last);
      return;
    }
    current = await last.ended();
  };

  return {
    folder,
    async do(step) {
      if (step.kind === 'file') return write(step);
      if (step.kind === 'run') return run(step.command, step.ownTerminal);
      const pattern = patternOf(withPorts(step.text, ports));
      // A new terminal must show the text itself, because an older one may have shown it.
      const isNew = last !== undefined && last === terminals.at(-1);
      const shown = isNew ? [last!] : [last!, ...terminals];
      const aborted = new AbortController();
      try {
        await Promise.any(shown.map((terminal) => terminal.shows(pattern, aborted.signal)));
      } catch {
        throw new Error(
          `no terminal shows ${step.text}\n${shown.map(({ output }) => output()).join('\n---\n')}`,
        );
      } finally {
        aborted.abort();
      }
    },
    async close() {
      await Promise.all(terminals.map((terminal) => terminal.end()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function withPorts(text: string, ports: ReadonlyMap<string, number>): string {
  return text.replace(/\b\d{4,5}\b/g, (port) => String(ports.get(port) ?? port));
}

/**
 * Turns `npm install` of Paylink packages into an install of tarballs, with the dependencies that
 * the page does not name.
 */
function fromTarballs(command: string): string {
  const packed = tarballs();
  const named = new Set(command.match(/@paylink\/[a-z]+/g) ?? []);
  return command.replace(/^npm install .*$/gm, (line) => {
    const ours = line.match(/@paylink\/[a-z]+/g) ?? [];
    const unnamed = withItsOwn(ours).filter((name) => !named.has(name));
    return [
      line.replace(/@paylink\/[a-z]+/g, (name) => packed[name]!),
      ...unnamed.map((name) => packed[name]!),
    ].join(' ');
  });
}

/** Returns a reader's environment, without the tests' own variables. */
function environment(node?: string): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'npm_config_registry', 'npm_config_fetch_timeout']
    .map((name) => [name, process.env[name]])
    .filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    ...(node === undefined ? {} : { PATH: `${node}:${process.env['PATH']}` }),
    NEXT_TELEMETRY_DISABLED: '1',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  };
}

function patternOf(text: string): RegExp {
  return new RegExp(
    text
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  );
}

interface Terminal {
  output: () => string;
  /** Resolves when the output matches. Rejects when the command ends without a match. */
  shows(pattern: RegExp, signal: AbortSignal): Promise<void>;
  /** Returns the command's final folder. @throws Error with all output if the command fails */
  ended(): Promise<string>;
  end(): Promise<void>;
}

function openTerminal(command: string, folder: string, env: Record<string, string>): Terminal {
  const child: ChildProcess = spawn('bash', ['-euo', 'pipefail', '-c', `${command}\npwd >&3`], {
    cwd: folder,
    env: env as NodeJS.ProcessEnv,
    // A process group, so that the children of npx end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const news = new EventEmitter();
  let output = '';
  let folderAtEnd = '';
  let hasEnded = false;
  const hear = (piece: Buffer): void => {
    output += stripVTControlCharacters(piece.toString());
    news.emit('news');
  };
  child.stdout!.on('data', hear);
  child.stderr!.on('data', hear);
  (child.stdio[3] as NodeJS.ReadableStream).on(
    'data',
    (piece: Buffer) => (folderAtEnd += piece.toString()),
  );
  // An interrupted run must not leave a server behind.
  const atExit = (): void => {
    process.kill(-child.pid!, 'SIGKILL');
  };
  process.once('exit', atExit);
  const closed = once(child, 'close').then(([code]) => {
    process.off('exit', atExit);
    hasEnded = true;
    news.emit('news');
    return code as number | null;
  });
  return {
    output: () => output,
    async shows(pattern, signal) {
      while (!pattern.test(output)) {
        if (hasEnded) throw new Error('ended');
        await once(news, 'news', { signal });
      }
    },
    async ended() {
      const code = await closed;
      if (code !== 0) throw new Error(`this ended with ${code}:\n${command}\n${output}`);
      return folderAtEnd.trim();
    },
    async end() {
      if (!hasEnded) process.kill(-child.pid!, 'SIGTERM');
      await closed;
    },
  };
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const EXAMPLE = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../../packages', import.meta.url));

/**
 * Where a version of Next.js is installed: copies of the example are built there, so that they find
 * that one.
 */
export class NextInstallation {
  readonly #folder: string;

  constructor(folder = EXAMPLE) {
    this.#folder = folder;
  }

  /**
   * Copies the example, with files of the test's own beside its own, to a folder in which nothing
   * else is built.
   */
  copyExample(name: string, files: Readonly<Record<string, string>> = {}): NextApp {
    const folder = join(this.#folder, '.cache', name);
    rmSync(folder, { recursive: true, force: true });
    for (const part of ['app', 'lib', 'pages', 'package.json', 'tsconfig.json']) {
      cpSync(join(EXAMPLE, part), join(folder, part), { recursive: true });
    }
    // As an installation would: each package alone, so that its peer is the Next.js of this folder.
    for (const part of ['core', 'node', 'fetch', 'next'].flatMap((one) => [
      `${one}/dist`,
      `${one}/package.json`,
    ])) {
      if (this.#folder !== EXAMPLE)
        cpSync(join(PACKAGES, part), join(folder, 'node_modules/@paylink', part), {
          recursive: true,
        });
    }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const require = createRequire(join(this.#folder, 'package.json'));
    return { folder, command: require.resolve('next/dist/bin/next') };
  }

  removeCopies(): void {
    rmSync(join(this.#folder, '.cache'), { recursive: true, force: true });
  }
}

/** A copy of the example, and the `next` that builds and runs it. */
export interface NextApp {
  readonly folder: string;
  readonly command: string;
}

type Environment = Readonly<Record<string, string>>;

/** A process of Next.js's own command, in a group of its own, as it starts workers. */
class NextProcess {
  readonly process: ChildProcess;
  output = '';

  constructor({ folder, command }: NextApp, args: readonly string[], env: Environment) {
    const { PATH = '', HOME = '' } = process.env;
    this.process = spawn(process.execPath, [command, ...args], {
      cwd: folder,
      // Not the test runner's environment, which has a NODE_ENV, and may have a secret.
      env: { PATH, HOME, NEXT_TELEMETRY_DISABLED: '1', ...env } as unknown as NodeJS.ProcessEnv,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout!, this.process.stderr!]) {
      stream.on('data', (text: Buffer) => (this.output += text.toString()));
    }
  }

  get ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  async kill(): Promise<void> {
    if (this.ended) return;
    const exit = once(this.process, 'exit');
    process.kill(-this.process.pid!, 'SIGKILL');
    await exit;
  }
}

export async function build(
  app: NextApp,
  env: Environment = {},
): Promise<{ code: number | null; output: string }> {
  const next = new NextProcess(app, ['build'], env);
  const timer = setTimeout(() => void next.kill(), 150_000);
  await once(next.process, 'close');
  clearTimeout(timer);
  return { code: next.process.exitCode, output: next.output };
}

const running = new Set<NextServer>();

/** Kills whatever servers a test has left. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()));
}

export class NextServer {
  readonly #next: NextProcess;
  url = '';

  private constructor(next: NextProcess) {
    this.#next = next;
    running.add(this);
  }

  /** Runs `next start` or `next dev` on a port that is free, until it answers. */
  static async run(
    command: 'start' | 'dev',
    app: NextApp,
    env: Environment = {},
  ): Promise<NextServer> {
    const server = new NextServer(
      new NextProcess(app, [command, '-p', '0', '-H', '127.0.0.1'], env),
    );
    const [, url] = await server.log(/Local:\s+(http:\S+)/, 60_000);
    server.url = url!;
    const response = await fetch(url!, { signal: AbortSignal.timeout(60_000) });
    if (!response.ok)
      throw new Error(`next ${command} answers ${response.status}: ${server.output}`);
    await response.arrayBuffer();
    return server;
  }

  get output(): string {
    return this.#next.output;
  }

  /** The first match in what the server has written, once it has written it. */
  async log(pattern: RegExp, milliseconds = 10_000): Promise<RegExpExecArray> {
    for (const end = Date.now() + milliseconds; ;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (this.#next.ended || Date.now() > end)
        throw new Error(`no ${pattern.source} in: ${this.output}`);
      await wait(20);
    }
  }

  /**
   * How often an order was credited. The line of another credit, made last, tells that all lines
   * have arrived.
   */
  credits(reference: string): number {
    return this.output.split('\n').filter((line) => line.trim() === `credited ${reference}`).length;
  }

  async stop(): Promise<void> {
    running.delete(this);
    await this.#next.kill();
  }
}

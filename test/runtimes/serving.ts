import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The ports of a server script by the host's name: `node`, `express`, `fetch`, `core`, `probe`. */
export type Ports = Readonly<Partial<Record<string, number>>>;

/** A server script in its own process, on some runtime. */
export class Serving {
  #stderr = '';
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.stderr!.on('data', (text: Buffer) => (this.#stderr += text.toString()));
  }

  /** Starts the script, and resolves with its ports. */
  static async start(
    [executable, ...args]: readonly [string, ...string[]],
    cwd: string,
  ): Promise<{ readonly serving: Serving; readonly ports: Ports }> {
    const { PATH, HOME } = process.env;
    const child = spawn(executable, args, {
      cwd,
      env: { PATH, HOME, NODE_ENV: 'production', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const serving = new Serving(child);
    return { serving, ports: await serving.#told() };
  }

  /** Returns true while the process runs. */
  get alive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Returns the process's open sockets and resident memory. */
  usage(): { readonly sockets: number; readonly bytes: number } {
    const folder = `/proc/${this.#process.pid}`;
    const isSocket = (descriptor: string): boolean => {
      try {
        return readlinkSync(`${folder}/fd/${descriptor}`).startsWith('socket:');
      } catch {
        // The socket closed after it was listed.
        return false;
      }
    };
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`${folder}/status`, 'utf8'))!;
    return {
      sockets: readdirSync(`${folder}/fd`).filter(isSocket).length,
      bytes: Number(kilobytes) * 1_024,
    };
  }

  /** Returns the lines on stderr, without expected ones. */
  complaints(): string[] {
    // Expected: refusals with their reasons outside production, and Deno's warning about listeners
    // on `request.signal` (denoland/deno#35733).
    return this.#stderr
      .split('\n')
      .filter(
        (line) =>
          line !== '' && !/^\[paylink\] (4\d\d|why) |Deno\.serve: request\.signal/.test(line),
      );
  }

  async stop(): Promise<void> {
    if (this.alive && this.#process.kill('SIGKILL')) await once(this.#process, 'exit');
  }

  #told(): Promise<Ports> {
    return new Promise((resolve, reject) => {
      createInterface(this.#process.stdout!).once('line', (line) => resolve(portsOf(line)));
      this.#process.once('error', reject);
      this.#process.once('close', () =>
        reject(new Error(`it ended before it told its ports: ${this.#stderr}`)),
      );
    });
  }
}

/** Our scripts report `{ ports }`, workerd reports its only socket. */
function portsOf(line: string): Ports {
  const { ports, port } = JSON.parse(line) as { ports?: Ports; port?: number };
  return ports ?? { fetch: port, core: port };
}

/** A host that serves in its own process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';

const START = 60_000;

export interface Start {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The URL of the first request. */
  readonly url: URL;
}

export class ServedHost {
  #said = '';
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.#ended = once(process, 'close');
    for (const stream of [process.stdout!, process.stderr!]) {
      stream.on(
        'data',
        (text: Buffer) => (this.#said = (this.#said + text.toString()).slice(-8_000)),
      );
    }
  }

  /**
   * Resolves when the host has answered a request, because some compile at the first. @throws Error
   * with its output if it ends or is silent for a minute
   */
  static async start(command: string, { cwd, env, url }: Start): Promise<ServedHost> {
    const port = Number(url.port);
    // Starts a process group, so that the host's children end with it.
    const child = spawn(command, {
      cwd,
      env,
      shell: true,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const served = new ServedHost(child);
    const deadline = performance.now() + START;
    while (!(await takesConnections(port))) {
      if (!served.alive || performance.now() > deadline) {
        await served.stop();
        throw new Error(`\`${command}\` does not serve on port ${port}:\n${served.said}`);
      }
      await after(50);
    }
    try {
      await fetch(url, { signal: AbortSignal.timeout(START) });
    } catch {
      await served.stop();
      throw new Error(`\`${command}\` does not answer:\n${served.said}`);
    }
    return served;
  }

  get alive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** The end of its output. */
  get said(): string {
    return this.#said.trimEnd().slice(-4_000);
  }

  async stop(): Promise<void> {
    try {
      process.kill(-this.#process.pid!, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
    await this.#ended;
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

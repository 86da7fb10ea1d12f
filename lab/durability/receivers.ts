import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/servers/starting.js';
import { bundleReceiver, type Bundle } from './receiver-bundle.js';
import type { DesignName } from './designs/index.js';

export interface ReceiverSettings {
  readonly design: DesignName;
  /** The database URL. */
  readonly database: string;
  /** The Redis URL, for designs that need one. */
  readonly redis?: string | undefined;
  /** The most database connections per process. */
  readonly connections: number;
  /** See creditOrder. */
  readonly workMs: number;
  /** The Node executable. Default: this process's own. */
  readonly node?: string | undefined;
}

/** Bytes, after a garbage collection. */
export interface Memory {
  readonly rss: number;
  /** The heap and the buffers beside it, without the allocator's reserve. */
  readonly live: number;
}

/** A command to a receiver's process: listen on a port, or report the memory. */
export type Order = { readonly port: number } | 'memory';

export interface Told {
  readonly ready?: true;
  readonly port?: number;
  readonly memory?: Memory;
}

class ReceiverProcess {
  readonly #process: ChildProcess;
  readonly #ready: Promise<unknown>;
  #output = '';

  constructor(bundle: string, settings: ReceiverSettings) {
    // Drops the flags of this process, because a TypeScript loader would double the start time.
    const { node: execPath = process.execPath } = settings;
    this.#process = fork(bundle, [JSON.stringify(settings)], {
      execPath,
      execArgv: ['--expose-gc'],
      silent: true,
    });
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) {
      stream.on(
        'data',
        (text: Buffer) => (this.#output = (this.#output + text.toString()).slice(-4_000)),
      );
    }
    this.#ready = this.#told('ready');
    // A caller awaits this later. Until then, a failure must not be unhandled.
    this.#ready.catch(() => undefined);
  }

  async listen(port: number): Promise<number> {
    await this.#ready;
    const listening = this.#told('port');
    this.#process.send({ port } satisfies Order);
    return listening;
  }

  async memory(): Promise<Memory> {
    const memory = this.#told('memory');
    this.#process.send('memory' satisfies Order);
    return memory;
  }

  /**
   * Sends SIGKILL. Resolves when the kernel has closed its sockets. @throws if the process had
   * already ended, because a crash is a fault
   */
  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) {
      throw new Error(
        `a receiver ended on its own (${signalCode ?? String(exitCode)}):\n${this.#output}`,
      );
    }
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }

  /** Pauses the process, as a host without memory would, and resumes it later. */
  async freeze(milliseconds: number): Promise<void> {
    this.#process.kill('SIGSTOP');
    await pause(milliseconds);
    this.#process.kill('SIGCONT');
  }

  #told<Field extends keyof Told>(field: Field): Promise<NonNullable<Told[Field]>> {
    return new Promise((resolve, reject) => {
      const onMessage = (message: Told): void => {
        const value = message[field];
        if (value === undefined) return;
        this.#process.off('message', onMessage).off('exit', onExit);
        resolve(value);
      };
      const onExit = (): void => {
        reject(new Error(`a receiver ended without telling ${field}:\n${this.#output}`));
      };
      this.#process.on('message', onMessage).once('exit', onExit);
    });
  }
}

/** The merchant's servers, each on its own port. Started spares take over from killed ones. */
export class Receivers {
  readonly #bundle: Bundle;
  readonly #settings: ReceiverSettings;
  readonly #serving: ReceiverProcess[] = [];
  readonly #spares: ReceiverProcess[];
  readonly ports: number[] = [];

  private constructor(bundle: Bundle, settings: ReceiverSettings, spares: number) {
    this.#bundle = bundle;
    this.#settings = settings;
    this.#spares = Array.from({ length: spares }, () => this.#spawn());
  }

  static async start(
    settings: ReceiverSettings,
    { count = 2, spares = 0 } = {},
  ): Promise<Receivers> {
    const receivers = new Receivers(await bundleReceiver(), settings, spares);
    for (let index = 0; index < count; index += 1) {
      const receiver = receivers.#spawn();
      receivers.#serving.push(receiver);
      receivers.ports.push(await receiver.listen(await freePort()));
    }
    return receivers;
  }

  /** Kills one server, and resolves when another process serves its port. */
  async kill(index: number): Promise<void> {
    await this.#serving[index]!.kill();
    const spare = this.#spares.shift() ?? this.#spawn();
    this.#serving[index] = spare;
    this.#spares.push(this.#spawn());
    await spare.listen(this.ports[index]!);
  }

  freeze(index: number, milliseconds: number): Promise<void> {
    return this.#serving[index]!.freeze(milliseconds);
  }

  memory(): Promise<Memory[]> {
    return Promise.all(this.#serving.map((receiver) => receiver.memory()));
  }

  async close(): Promise<void> {
    const ended = await Promise.allSettled(
      [...this.#serving, ...this.#spares].map((receiver) => receiver.kill()),
    );
    await this.#bundle.remove();
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }

  #spawn(): ReceiverProcess {
    return new ReceiverProcess(this.#bundle.path, this.#settings);
  }
}

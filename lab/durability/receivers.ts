import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/servers/starting.js';
import { bundleReceiver, type Bundle } from './receiver-bundle.js';
import type { DesignName } from './designs/index.js';

export interface ReceiverSettings {
  readonly design: DesignName;
  /** URL of the database. */
  readonly database: string;
  /** URL of the Redis, for the designs that need one. */
  readonly redis?: string | undefined;
  /** At most so many connections to it, for each process. */
  readonly connections: number;
  /** See creditOrder. */
  readonly workMs: number;
  /** The executable of the Node that it runs on; default: that of this process. */
  readonly node?: string | undefined;
}

/** In bytes, after a collection of garbage. */
export interface Memory {
  readonly rss: number;
  /**
   * The heap and the buffers beside it: what is held, without what the allocator keeps for later.
   */
  readonly live: number;
}

/** What a receiver's process is told: to listen on a port, or to say how much memory it holds. */
export type Order = { readonly port: number } | 'memory';

/** What it tells. */
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
    // Without the flags of this process: a loader for TypeScript would double the time to start.
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
    // A caller asks when it needs it; until then no one handles a failure.
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
   * SIGKILL; resolves when the kernel has taken its sockets away. @throws when it had already
   * ended: a crash is a fault.
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

  /**
   * Stops it in the middle of whatever it does, as a host that is out of memory would, and lets it
   * go on later.
   */
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

/**
 * The merchant's servers, each on a port of its own, with spares that are started already and take
 * over from the dead.
 */
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

  /** Kills the one with SIGKILL, and resolves when another process serves its port. */
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

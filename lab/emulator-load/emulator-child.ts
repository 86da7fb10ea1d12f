import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The numeric options of `assumed`, because functions cannot cross IPC. */
export type Switches = Readonly<Record<string, number>>;

export type Question =
  | {
      readonly ask: 'start';
      readonly webhook: { readonly url: string; readonly secret: string };
      readonly assumed: Switches;
    }
  | { readonly ask: 'pay'; readonly references: readonly string[] }
  | { readonly ask: 'stand' }
  | { readonly ask: 'measure' };

export interface Stand {
  /** Successful payments. */
  readonly paid: number;
  /** Kept deliveries, and those that are not acknowledged. */
  readonly kept: number;
  readonly owed: number;
  /** Kept attempts of all deliveries. */
  readonly attempts: number;
  /** The fewest attempts of a pending delivery. */
  readonly fewest: number;
  /** Open connections, and the most that were in use at once. */
  readonly connections: number;
  readonly peak: number;
}

export interface Answer extends Partial<Stand> {
  readonly failed?: string;
  /** Bytes of the heap and the buffers beside it, after a garbage collection. */
  readonly live?: number;
}

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The emulator in emulator-process.ts. */
export class EmulatorChild {
  readonly #process: ChildProcess;
  output = '';

  constructor() {
    this.#process = fork(at('./emulator-process.ts'), {
      execArgv: ['--expose-gc', '--conditions=@paylink/source', '--import', 'tsx'],
      silent: true,
    });
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) {
      stream.on('data', (text: Buffer) => (this.output += text.toString()));
    }
  }

  start(
    webhook: { readonly url: string; readonly secret: string },
    assumed: Switches,
  ): Promise<Answer> {
    return this.#ask({ ask: 'start', webhook, assumed });
  }

  /** Creates and pays a link per reference through the API. Does not wait for the notifications. */
  pay(references: readonly string[]): Promise<Answer> {
    return this.#ask({ ask: 'pay', references });
  }

  async stand(): Promise<Stand> {
    return (await this.#ask({ ask: 'stand' })) as Stand;
  }

  /** Returns the used bytes after a garbage collection. */
  async measure(): Promise<number> {
    return (await this.#ask({ ask: 'measure' })).live!;
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  async #ask(question: Question): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      const ended = (): void =>
        reject(new Error(`the emulator's process has ended: ${this.output}`));
      this.#process.once('exit', ended);
      this.#process.once('message', (message) => {
        this.#process.off('exit', ended);
        resolve(message as Answer);
      });
    });
    this.#process.send(question);
    const { failed, ...rest } = await answer;
    if (failed !== undefined) throw new Error(failed);
    return rest;
  }
}

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Bytes, after a garbage collection. */
export interface Memory {
  readonly rss: number;
  /** The heap and the buffers beside it, without the allocator's reserve. */
  readonly live: number;
}

/** A message from serve-host.ts. */
export interface ChildMessage {
  readonly port?: number;
  readonly handling?: string;
  readonly handled?: string;
  readonly closed?: boolean;
  readonly memory?: Memory;
  readonly turned?: boolean;
  readonly exceptions?: readonly string[];
}

export class Child {
  readonly #process: ChildProcess;
  readonly #messages: ChildMessage[] = [];
  readonly #arrived = new Set<() => void>();
  output = '';

  /** @param script the bundle of serve-host.ts */
  constructor(script: string, host: string, bodyLimit = 65_536) {
    this.#process = fork(script, [host, String(bodyLimit)], {
      // Otherwise V8's reserve for new objects, up to 48 MB, would be measured with the buffers.
      execArgv: ['--expose-gc', '--max-semi-space-size=1'],
      silent: true,
    });
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) {
      stream.on('data', (text: Buffer) => (this.output += text.toString()));
    }
    this.#process.on('message', (message) => {
      this.#messages.push(message as ChildMessage);
      for (const arrived of this.#arrived) arrived();
    });
  }

  /** Takes the next message with the field. */
  told<Field extends keyof ChildMessage>(field: Field): Promise<NonNullable<ChildMessage[Field]>> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const index = this.#messages.findIndex((message) => message[field] !== undefined);
        if (index < 0) return;
        this.#arrived.delete(look);
        this.#process.off('exit', ended);
        resolve(this.#messages.splice(index, 1)[0]![field]!);
      };
      const ended = (): void => {
        look();
        reject(new Error(`the process ended without telling ${field}: ${this.output}`));
      };
      this.#process.once('exit', ended);
      this.#arrived.add(look);
      look();
    });
  }

  memory(): Promise<Memory> {
    this.#process.send('memory');
    return this.told('memory');
  }

  /** Resolves after a turn of its event loop, which has read all arrived bytes. */
  turn(): Promise<boolean> {
    this.#process.send('turn');
    return this.told('turned');
  }

  /** Returns the exceptions since the first call, caught or not. */
  exceptions(): Promise<readonly string[]> {
    this.#process.send('exceptions');
    return this.told('exceptions');
  }

  terminate(): void {
    this.#process.kill('SIGTERM');
  }

  /** Returns the exit code after it has ended. */
  async exit(): Promise<number | null> {
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const [code] = (await once(this.#process, 'exit')) as [number | null];
    return code;
  }

  async kill(): Promise<void> {
    const running = this.#process.exitCode === null && this.#process.signalCode === null;
    if (running && this.#process.kill('SIGKILL')) await once(this.#process, 'exit');
  }
}

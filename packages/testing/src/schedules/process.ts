/** A process that runs the merchant's module behind a separate proxy. */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Answer, Call, Delivered, NewOrder, Told } from './caller-contract.js';
import { Changes } from './changes.js';
import { UsageError } from './database.js';
import type { Proxy } from './proxy.js';

const CALLER = fileURLToPath(new URL('./caller.js', import.meta.url));
/** Milliseconds for any answer of the merchant's code. `receive` itself gives up after 10 s. */
const PATIENCE = 30_000;
const CLOSING = 2_000;

export interface Source {
  readonly module: string;
  readonly variable: string;
}

/** A caller's results since its delivery began. */
export interface Conduct {
  delivered: Delivered | undefined;
  /** The result of `credit`. Undefined if `credit` was not called, or threw. */
  credited: number | null | undefined;
}

export class Caller {
  conduct: Conduct = { delivered: undefined, credited: undefined };
  /** Undefined until the module is loaded. */
  exports: readonly string[] | undefined;
  onFound: ((paid: boolean | undefined) => void) | undefined;
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, (told: Answer) => void>();
  #last = 0;
  #failure: string | undefined;

  private constructor(
    readonly proxy: Proxy | undefined,
    readonly changes: Changes,
    { module, variable }: Source,
    url: string,
  ) {
    const file = resolve(module);
    if (!existsSync(file)) throw new UsageError('module', `The module ${module} does not exist`);
    this.#child = fork(CALLER, [pathToFileURL(file).href], {
      env: { ...process.env, [variable]: url },
      execArgv: /\.[cm]?tsx?$/.test(file) ? ['--import', tsx()] : [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const atExit = (): void => void this.#child.kill('SIGKILL');
    process.on('exit', atExit);
    this.#child.on('message', (told: Told) => {
      this.#onTold(told);
      changes.tell();
    });
    this.#child.once('exit', () => {
      process.off('exit', atExit);
      this.#failure ??= 'its process ended';
      for (const [id, answer] of this.#calls) answer({ id, error: this.#failure });
      changes.tell();
    });
    this.#child.on('error', () => undefined);
  }

  /** @throws UsageError if the module cannot be loaded */
  static async start(
    source: Source,
    { proxy, changes, url }: { proxy?: Proxy; changes: Changes; url: string },
  ): Promise<Caller> {
    const caller = new Caller(proxy, changes, source, url);
    await changes.until(() => !caller.isAlive || caller.exports !== undefined, PATIENCE);
    if (caller.exports !== undefined) return caller;
    const fault = caller.#failure ?? 'it does not load within 30 s';
    caller.kill();
    throw new UsageError('module', `The module ${source.module} cannot be used: ${fault}`);
  }

  get isAlive(): boolean {
    return this.#failure === undefined;
  }

  /** True once the delivery is answered, or the process is gone. */
  get isOver(): boolean {
    return this.conduct.delivered !== undefined || !this.isAlive;
  }

  /** Starts a delivery, and resolves with its end. */
  async deliver(order: NewOrder): Promise<Delivered> {
    const conduct: Conduct = { delivered: undefined, credited: undefined };
    this.conduct = conduct;
    const end = (delivered: Delivered): Delivered => {
      conduct.delivered = delivered;
      this.changes.tell();
      return delivered;
    };
    return this.call('deliver', order).then(
      (value) => end(value as Delivered),
      (error: unknown) => end({ isAcknowledged: false, code: (error as Error).message }),
    );
  }

  async call(name: Call['name'], order?: NewOrder, patience = PATIENCE): Promise<unknown> {
    const id = ++this.#last;
    let told: Answer | undefined;
    this.#calls.set(id, (answer) => (told = answer));
    if (this.isAlive) this.#child.send({ id, name, order: order! } satisfies Call, () => undefined);
    await this.changes.until(() => told !== undefined || !this.isAlive, patience);
    this.#calls.delete(id);
    if (told?.error === undefined && told !== undefined) return told.value;
    throw new Error(told?.error ?? this.#failure ?? `${name} did not end`);
  }

  kill(): void {
    this.#failure ??= 'killed';
    this.#child.kill('SIGKILL');
    this.proxy?.close();
  }

  /** Ends the process as an orderly program ends. */
  async close(): Promise<void> {
    if (this.isAlive) await this.call('close', undefined, CLOSING).catch(() => undefined);
    this.kill();
  }

  #onTold(told: Told): void {
    if ('id' in told) return this.#calls.get(told.id)?.(told);
    if (told.event === 'ready') this.exports = told.value;
    if (told.event === 'failed') this.#failure = told.value;
    if (told.event === 'found') this.onFound?.(told.value);
    if (told.event === 'credited') this.conduct.credited = told.value;
  }
}

/** Returns the address of the merchant's tsx. Only newer versions of Node strip types. */
function tsx(): string {
  try {
    const { resolve: find } = createRequire(join(process.cwd(), 'package.json'));
    return pathToFileURL(find('tsx')).href;
  } catch {
    throw new UsageError(
      'module',
      'TypeScript needs tsx in this folder: npm install --save-dev tsx',
    );
  }
}

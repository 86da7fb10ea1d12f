/** A process that runs the merchant's module behind a separate proxy. */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Call, Command, Told } from './caller.js';
import { LONGEST_WAIT, type Changes } from './changes.js';
import { UsageError, type Database } from './database.js';
import { endWithThisProcess, hasEnded, kill } from './processes.js';
import { Proxy } from './proxy.js';
import type { Delivered, NewOrder, Party } from './subject.js';

const CALLER = fileURLToPath(new URL('./caller.js', import.meta.url));
/** Milliseconds for a module's `close`, and for a server that loses its client. */
const CLOSING = 2_000;

export interface Source {
  readonly module: string;
  readonly databaseVariable?: string | undefined;
}

export class Caller implements Party {
  replies: Delivered[] = [];
  credited: number | null | undefined;
  /** The names of the module's optional exports. */
  exports: readonly string[] = [];
  onFound: ((paid: boolean | undefined) => void) | undefined;
  readonly #answers = new Map<number, Told>();
  #last = 0;

  private constructor(
    readonly proxy: Proxy,
    readonly changes: Changes,
    readonly child: ChildProcess,
  ) {
    endWithThisProcess(child);
    child.on('message', (told: Told) => {
      if ('id' in told) this.#answers.set(told.id, told);
      else if (told.event === 'found') this.onFound?.(told.value);
      else this.credited = told.value;
      changes.tell();
    });
    for (const end of ['exit', 'error']) child.once(end, () => changes.tell());
  }

  /** @throws UsageError if the module cannot be loaded */
  static async start(source: Source, database: Database, changes: Changes): Promise<Caller> {
    const { module, databaseVariable: variable = 'DATABASE_URL' } = source;
    const { isInProcess } = database;
    const file = resolve(module);
    if (!existsSync(file)) throw new UsageError('module', `The module ${module} does not exist`);
    const execArgv = /\.[cm]?tsx?$/.test(file) ? ['--import', tsx()] : [];
    const proxy = await Proxy.open(database, changes);
    const child = fork(CALLER, [pathToFileURL(file).href, isInProcess ? 'hook' : ''], {
      env: { ...process.env, [variable]: proxy.url },
      execArgv,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', isInProcess ? 'pipe' : 'ignore'],
      detached: true,
    });
    const caller = new Caller(proxy, changes, child);
    const pipe = child.stdio[4] as Socket | null;
    if (pipe) proxy.accept(pipe, pipe);
    try {
      caller.exports = (await caller.call('load')) as string[];
      return caller;
    } catch (error) {
      await caller.kill();
      const fault = (error as Error).message;
      throw new UsageError('module', `The module ${module} cannot be used: ${fault}`);
    }
  }

  get isAlive(): boolean {
    return !hasEnded(this.child);
  }

  get isOver(): boolean {
    return this.replies.length > 0 || !this.isAlive;
  }

  start(order: NewOrder): void {
    this.proxy.hold();
    void this.deliver(order).then(() => this.proxy.holdFewMore());
  }

  /** Starts a delivery, and resolves with its end. */
  async deliver(order: NewOrder): Promise<Delivered> {
    this.credited = undefined;
    const replies: Delivered[] = [];
    this.replies = replies;
    const delivered = await this.call('deliver', order).then(
      (value) => value as Delivered,
      (error: unknown) => ({ isAcknowledged: false, code: (error as Error).message }),
    );
    replies.push(delivered);
    this.changes.tell();
    return delivered;
  }

  async pass(): Promise<void> {
    const { proxy } = this;
    // A statement blocks its process, also one that begins now.
    const isBlocked = (): boolean =>
      proxy.database.isInProcess && proxy.held.length + proxy.unanswered.length > 0;
    if (isBlocked()) return;
    await this.call('ping', undefined, LONGEST_WAIT, isBlocked).catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  }

  async call(
    name: Command,
    order?: NewOrder,
    patience = LONGEST_WAIT,
    isMoot = () => false,
  ): Promise<unknown> {
    const id = ++this.#last;
    if (this.isAlive) this.child.send({ id, name, order: order! } satisfies Call, () => undefined);
    const isOver = (): boolean => this.#answers.has(id) || !this.isAlive || isMoot();
    await this.changes.until(isOver, patience);
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    if (answer === undefined)
      throw new Error(this.isAlive ? `${name} did not end` : 'its process ended');
    if ('error' in answer) throw new Error(answer.error);
    return answer.value;
  }

  async kill(): Promise<void> {
    await kill(this.child);
    await this.changes.until(() => this.proxy.isUnused, CLOSING);
    this.proxy.close();
  }

  /** Ends the process as an orderly program ends. */
  async close(): Promise<void> {
    if (this.isAlive) await this.call('close', undefined, CLOSING).catch(() => undefined);
    await this.kill();
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

/** A whole program in any language, which receives notifications. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { signedDelivery } from '../signed-delivery.js';
import { Changes, LONGEST_WAIT } from './changes.js';
import { NotTestable, UsageError, type Database } from './database.js';
import { endWithThisProcess, hasEnded, kill } from './processes.js';
import { Proxy } from './proxy.js';
import type { Holder, Round } from './round.js';
import type { Delivered, NewOrder, Party, Recovery, Subject, Truth } from './subject.js';

export interface ProgramOptions {
  readonly databaseUrl: string;
  readonly databaseVariable: string;
  /** The command that starts the program. */
  readonly start: string;
  /** The webhook of the program. */
  readonly to: string;
  /** Prints `{"paid":true,"effects":1}` of the order in the variable REFERENCE. */
  readonly books: string;
  /** Stores an unpaid order of REFERENCE, AMOUNT and CURRENCY. Default: `books` does. */
  readonly order?: string | undefined;
  readonly secret: string;
  /** More variables for the program, such as the address of the service. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes the service say that the reference is paid. */
  readonly pay: (order: { reference: string; amount: number }) => Promise<void>;
}

const STARTING = 60_000;
/** Milliseconds in which the port of a killed program closes. */
const ENDING = 10_000;
/** The program's stderr is kept up to this number of characters. */
const LONGEST_ERROR = 4_096;
/** Milliseconds in which a second notification's round arrives. */
const PASSING = 25;

/** The merchant's program, its books and its orders. */
export class Program implements Subject, Party {
  replies: Delivered[] = [];
  hasEffects = true;
  readonly hasConnections = true;
  alone: Truth = { paid: false, effects: undefined };
  readonly total = undefined;
  /** How many notifications a try sends at the same time. */
  #deliveries = 1;
  /** In the order of their first round. */
  readonly #connections: Holder[] = [];
  #child: ChildProcess | undefined;
  #stderr = '';

  private constructor(
    readonly options: ProgramOptions,
    readonly changes: Changes,
    readonly proxy: Proxy,
  ) {}

  static async open(options: ProgramOptions, database: Database): Promise<Program> {
    if (database.isInProcess) throw new NotTestable('SQLite in a whole program');
    const changes = new Changes();
    const program = new Program(options, changes, await Proxy.open(database, changes));
    try {
      await program.#start();
      const order = await program.newOrder();
      const { isAcknowledged, code } = await program.#notify(order);
      if (!isAcknowledged)
        throw new UsageError(
          'to',
          `A single notification to ${options.to} did not receive a 200 (${code}): check the path, and` +
            ' that the program reads its secret and the address of the service from the variables.' +
            ` Its stderr: ${errorIn(program.#stderr)}`,
        );
      program.alone = await program.truth(order);
      return program;
    } catch (error) {
      await program.close();
      throw error;
    }
  }

  get isOver(): boolean {
    return this.replies.length === this.#deliveries;
  }

  async newOrder(): Promise<NewOrder> {
    const order = { reference: randomUUID(), amount: 1_500, currency: 'XOF', tenant: null };
    if (this.options.order !== undefined) await this.#run(this.options.order, order);
    await this.options.pay(order);
    if (!(await this.truth(order)).paid) return order;
    throw new UsageError('books', 'The books show an order as paid that nobody has paid');
  }

  async truth(order: NewOrder): Promise<Truth> {
    const { paid, effects } = parseTruth(await this.#run(this.options.books, order));
    this.hasEffects = effects !== undefined;
    const { databaseVariable } = this.options;
    if (paid && this.isOver && !this.proxy.wasUsed)
      throw new UsageError(
        'databaseVariable',
        `The program did not connect to the address in ${databaseVariable}: name its variable`,
      );
    return { paid, effects };
  }

  async questionAnswered(): Promise<void> {
    await pause(PASSING);
  }

  /** Starts the program unless it runs. */
  async parties(deliveries: number): Promise<readonly Party[]> {
    this.#deliveries = deliveries;
    await this.#start();
    return [this];
  }

  /** Names the connections, because the notifications reach one process. */
  nameOf(_: Party, round?: Round): string {
    if (round === undefined) return ' ';
    if (!this.#connections.includes(round.connection)) this.#connections.push(round.connection);
    return String.fromCharCode(65 + this.#connections.indexOf(round.connection));
  }

  recoveries(order: NewOrder): Recovery[] {
    const deliver = async (): Promise<void> => {
      for (let left = 3; left > 0; left -= 1) {
        await this.#start();
        const replies = await Promise.all([this.#notify(order), this.#notify(order)]);
        if (replies.some(({ isAcknowledged }) => isAcknowledged)) return;
      }
    };
    return [{ name: 'two notifications more', run: deliver }];
  }

  start(order: NewOrder): void {
    let isTouched = false;
    // What the program does beside this order passes.
    this.proxy.hold(
      ({ parts }) => (isTouched ||= parts.some((part) => part.includes(order.reference))),
    );
    this.#connections.length = 0;
    const replies: Delivered[] = [];
    this.replies = replies;
    for (let sent = 0; sent < this.#deliveries; sent += 1)
      void this.#notify(order).then((reply) => {
        replies.push(reply);
        if (this.isOver) this.proxy.holdFewMore();
        this.changes.tell();
      });
  }

  async pass(): Promise<void> {
    await pause(PASSING);
  }

  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    await kill(this.#child);
    this.proxy.cut();
    const end = performance.now() + ENDING;
    while (await this.#isListening()) {
      if (performance.now() > end)
        throw new UsageError(
          'start',
          `A process that the program started still listens at ${this.options.to}: stop it, and` +
            ' start the program without a process manager',
        );
      await pause(20);
    }
  }

  async close(): Promise<void> {
    await this.kill();
    this.proxy.close();
  }

  /** Resolves when the program's port is open. */
  async #start(): Promise<void> {
    if (this.#child !== undefined && !hasEnded(this.#child)) {
      if (await this.#isListening()) return;
      // Its server has ended, and a shell or a package manager around it ends soon.
      await kill(this.#child);
    }
    const { start, to, databaseVariable, env } = this.options;
    if (await this.#isListening())
      throw new UsageError('start', `Another program answers at ${to}: stop it`);
    const variables = { ...process.env, ...env, [databaseVariable]: this.proxy.url };
    const child = spawn(start, {
      ...{ shell: true, detached: true, env: variables },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    endWithThisProcess(child);
    this.#child = child;
    this.#stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = `${this.#stderr}${chunk.toString()}`.slice(-LONGEST_ERROR);
    });
    const end = performance.now() + STARTING;
    while (!(await this.#isListening())) {
      if (hasEnded(child) || performance.now() > end)
        throw new UsageError(
          'start',
          `The program ended, or does not listen at ${to}. Its stderr: ${errorIn(this.#stderr)}`,
        );
      await pause(50);
    }
  }

  async #isListening(): Promise<boolean> {
    const { hostname, port, protocol } = new URL(this.options.to);
    const socket = connect(Number(port || (protocol === 'https:' ? 443 : 80)), hostname);
    return once(socket, 'connect')
      .then(
        () => true,
        () => false,
      )
      .finally(() => socket.destroy());
  }

  async #notify({ reference }: NewOrder): Promise<Delivered> {
    const { to, secret } = this.options;
    const request = signedDelivery({ secret, reference }).toRequest(to);
    const signal = AbortSignal.timeout(LONGEST_WAIT);
    return fetch(request, { signal }).then(
      ({ status }) => ({ isAcknowledged: status === 200, code: String(status) }),
      () => ({ isAcknowledged: false, code: 'no reply' }),
    );
  }

  async #run(command: string, { reference, amount, currency }: NewOrder): Promise<string> {
    const { databaseVariable, databaseUrl } = this.options;
    const order = { REFERENCE: reference, AMOUNT: String(amount), CURRENCY: currency };
    const env = { ...process.env, ...order, [databaseVariable]: databaseUrl };
    try {
      const run = promisify(execFile);
      return (await run('/bin/sh', ['-c', command], { env, timeout: LONGEST_WAIT })).stdout;
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string };
      throw new UsageError('books', `A command of yours failed (${command}): ${errorIn(stderr)}`);
    }
  }
}

/** Returns the last line that names an error, and otherwise the last line. */
function errorIn(stderr: string): string {
  if (stderr.trim() === '') return '(empty)';
  const lines = stderr.trim().split('\n');
  return lines.findLast((line) => /^(?:\w+ )?\w*error\b/i.test(line)) ?? lines.at(-1)!;
}

type Printed = Partial<Readonly<Record<'paid' | 'effects', unknown>>>;

/** @throws UsageError if the last line is not the state of an order */
function parseTruth(output: string): Truth {
  try {
    const { paid, effects } = JSON.parse(output.trim().split('\n').at(-1)!) as Printed;
    const count = effects === undefined ? undefined : Number(effects);
    if (typeof paid === 'boolean' && !Number.isNaN(count)) return { paid, effects: count };
  } catch {
    // The output is not JSON.
  }
  throw new UsageError('books', 'The books must print {"paid":true,"effects":1} for $REFERENCE');
}

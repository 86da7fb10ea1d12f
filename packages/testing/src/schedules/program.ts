/** A whole program in any language: the same cuts and kills, while notifications reach it. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { signedDelivery } from '../signed-delivery.js';
import { Changes } from './changes.js';
import { NotTestable, readDatabase, UsageError, type Database } from './database.js';
import { CUTS, MOST_ROUNDS } from './every-cut.js';
import { EARLY, faultOfTruth } from './fault.js';
import type { Explored, Finding } from './finding.js';
import { tell, type Truth } from './lab.js';
import { Proxy } from './proxy.js';
import type { Round } from './round.js';
import { writeStory, type Line } from './story.js';
import { NOTHING, type SchedulesReport, type TrySchedulesOptions } from './try-schedules.js';

export interface TryProgramOptions extends Pick<
  TrySchedulesOptions,
  'databaseUrl' | 'databaseVariable' | 'timeLimit' | 'replay' | 'onProgress'
> {
  /** The command that starts the program. */
  readonly start: string;
  /** The webhook of the program. */
  readonly to: string;
  /** Prints `{"paid":true,"effects":1}` of the order in the variable REFERENCE. */
  readonly books: string;
  /** Stores an unpaid order of REFERENCE, AMOUNT and CURRENCY. Default: `books` does. */
  readonly order?: string | undefined;
  readonly secret: string;
  /** Further variables for the program, such as the address of the service. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes the service say that the reference is paid. */
  readonly pay: (order: { reference: string; amount: number }) => Promise<void>;
}

const AMOUNT = 1_500;
const STARTING = 60_000;
/** Milliseconds for an answer of the program, which asks the service. */
const ANSWERING = 30_000;
/** Milliseconds after which a round waits for another, or no further round comes. */
const QUIET = 250;

/** @throws Error with the code `misconfigured` if the program cannot be tried */
export async function tryProgram(options: TryProgramOptions): Promise<SchedulesReport> {
  let database: Database;
  try {
    database = readDatabase(options.databaseUrl);
  } catch (error) {
    if (!(error instanceof NotTestable)) throw error;
    return { orders: NOTHING, cuts: NOTHING, findings: [], notTested: [error.message] };
  }
  const proxy = await Proxy.open(database, new Changes());
  const program = new Program(options, proxy);
  try {
    await program.start();
    return await explore(program, options);
  } finally {
    await program.kill();
    proxy.close();
  }
}

async function explore(program: Program, options: TryProgramOptions): Promise<SchedulesReport> {
  const { replay, timeLimit = 60_000, onProgress } = options;
  const end = performance.now() + timeLimit;
  const findings: Finding[] = [];
  let [orders, cuts, left] = [NOTHING, 0, 0];
  // The first try cuts nothing, and sends two notifications at once.
  for (let number = -1; number < MOST_ROUNDS * CUTS.length; number += 1) {
    if (replay !== undefined) number = replay === 2 ? -1 : (replay - 1) / 2;
    if (performance.now() > end) left = 1;
    if (left > 0) break;
    const { finding, isReached } = await tryCut(program, number);
    if (!isReached) break;
    if (replay !== undefined || !findings.some(({ fault }) => fault === finding.fault))
      if (replay !== undefined || finding.fault !== '') findings.push(finding);
    if (number === -1) orders = { tried: 1, left: 0, findings: [] };
    else cuts += 1;
    onProgress?.({ orders: orders.tried, cuts });
    if (replay !== undefined) break;
  }
  const notTested = left > 0 ? [`the cuts after the first ${cuts}: the time limit`] : [];
  const tried: Explored = { tried: cuts, left, findings };
  return { orders, cuts: tried, findings, notTested };
}

async function tryCut(
  program: Program,
  number: number,
): Promise<{ finding: Finding; isReached: boolean }> {
  const { proxy } = program;
  const cut = CUTS[number % CUTS.length];
  const reference = await program.newOrder();
  const lines: Line[] = [];
  const replies: number[] = [];
  let isEarly = false;
  const notify = async (): Promise<void> => {
    const status = await program.notify(reference);
    replies.push(status);
    lines.push({ who: ' ', text: status === 0 ? 'no reply' : String(status), notes: [] });
    if (status !== 200 || (await program.books(reference)).paid) return;
    isEarly = true;
    lines.at(-1)!.notes.push('the books say unpaid');
  };
  proxy.isHolding = true;
  const notified = Promise.all(cut === undefined ? [notify(), notify()] : [notify()]);
  let isOver = false;
  void notified.finally(() => {
    isOver = true;
    proxy.changes.tell();
  });
  let isTouched = false;
  let at = -1;
  let isReached = cut === undefined;
  while (!isOver) {
    await proxy.changes.until(() => isOver || proxy.held.length > 0, ANSWERING);
    // The other notification's round may come a moment later.
    if (cut === undefined) await pause(QUIET / 10);
    const [round] = proxy.held;
    if (round === undefined) continue;
    isTouched ||= round.parts.some((part) => part.includes(reference));
    if (isTouched) lines.push({ who: whoOf(round, lines), round, notes: [] });
    if (isTouched && cut !== undefined && ++at === Math.floor(number / CUTS.length)) {
      isReached = true;
      if (cut.isAfter) await answered(proxy, round, true);
      lines.at(-1)!.notes.push(cut.text);
      if (cut.isKill) await program.kill();
      else proxy.cut(round);
      break;
    }
    await answered(proxy, round);
  }
  proxy.releaseAll();
  await notified;
  if (isReached && cut !== undefined) {
    await program.start();
    lines.push({ who: ' ', text: 'two notifications more', notes: [] });
    for (let again = 0; again < 3 && (again === 0 || !replies.includes(200)); again += 1)
      await Promise.all([notify(), notify()]);
  } else if (!replies.includes(200)) await notify();
  const truth = await program.books(reference);
  const fault = isEarly ? EARLY : faultOfTruth(truth, undefined, undefined);
  const story = writeStory([...lines, tell(truth)]);
  const { sentence, change } = fault ?? { sentence: '', change: '' };
  const kind = cut === undefined ? 'order' : 'cut';
  const id = cut === undefined ? 2 : 2 * number + 1;
  return { finding: { number: id, kind, fault: sentence, change, story }, isReached };
}

async function answered(proxy: Proxy, round: Round, isAnswerLost = false): Promise<void> {
  proxy.release(round, isAnswerLost);
  await proxy.changes.until(() => round.isAnswered, QUIET);
}

/** Names the connections by letters. */
function whoOf({ connection }: Round, lines: readonly Line[]): string {
  const seen = new Map(lines.flatMap(({ round, who }) => (round ? [[round.connection, who]] : [])));
  return seen.get(connection) ?? String.fromCharCode(65 + seen.size);
}

/** The merchant's program, its books and its orders. */
class Program {
  #child: ChildProcess | undefined;

  constructor(
    readonly options: TryProgramOptions,
    readonly proxy: Proxy,
  ) {}

  /** Starts the program unless it runs. Resolves when its port is open. */
  async start(): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) return;
    const { start, to, databaseVariable = 'DATABASE_URL', env } = this.options;
    if (await isOpen(to)) throw new UsageError('start', `Another program answers at ${to}: end it`);
    const variables = { ...process.env, ...env, [databaseVariable]: this.proxy.url };
    // A separate group, because a shell or npm stands before the program.
    const child = spawn(start, { shell: true, detached: true, stdio: 'ignore', env: variables });
    this.#child = child;
    process.on('exit', this.#end);
    const end = performance.now() + STARTING;
    while (!(await isOpen(to))) {
      if (child.exitCode !== null || performance.now() > end)
        throw new UsageError('start', `The program ended, or does not listen at ${to}`);
      await pause(50);
    }
  }

  async kill(): Promise<void> {
    const child = this.#child;
    process.off('exit', this.#end);
    if (child === undefined) return;
    this.#end();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    this.#child = undefined;
    this.proxy.cutAll();
    while (await isOpen(this.options.to)) await pause(20);
  }

  async newOrder(): Promise<string> {
    const reference = randomUUID();
    const { order, pay } = this.options;
    if (order !== undefined) await this.#run(order, reference);
    await pay({ reference, amount: AMOUNT });
    if (!(await this.books(reference)).paid) return reference;
    throw new UsageError('books', 'The books say paid for an order that nobody has paid');
  }

  /** Returns the status of the reply, or 0. */
  async notify(reference: string): Promise<number> {
    const { to, secret } = this.options;
    const request = signedDelivery({ secret, reference }).toRequest(to);
    const signal = AbortSignal.timeout(ANSWERING);
    return fetch(request, { signal }).then(
      ({ status }) => status,
      () => 0,
    );
  }

  async books(reference: string): Promise<Truth> {
    const output = await this.#run(this.options.books, reference);
    try {
      const { paid, effects } = JSON.parse(output.trim().split('\n').at(-1)!) as Partial<Truth>;
      if (typeof paid === 'boolean') return { paid, effects };
    } catch {
      // The output is not JSON.
    }
    throw new UsageError('books', 'The books must print {"paid":true,"effects":1} for $REFERENCE');
  }

  async #run(command: string, reference: string): Promise<string> {
    const { databaseVariable = 'DATABASE_URL', databaseUrl } = this.options;
    const order = { REFERENCE: reference, AMOUNT: String(AMOUNT), CURRENCY: 'XOF' };
    const env = { ...process.env, ...order, [databaseVariable]: databaseUrl };
    try {
      const run = promisify(execFile);
      return (await run('/bin/sh', ['-c', command], { env, timeout: ANSWERING })).stdout;
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string };
      const [last] = stderr.trim().split('\n').slice(-1);
      throw new UsageError('books', `A command of yours failed (${command}): ${last}`);
    }
  }

  readonly #end = (): void => {
    try {
      process.kill(-this.#child!.pid!, 'SIGKILL');
    } catch {
      // The group has ended.
    }
  };
}

async function isOpen(to: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(to);
  const socket = connect(Number(port || (protocol === 'https:' ? 443 : 80)), hostname);
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

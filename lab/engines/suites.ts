/**
 * The tests of each engine: the store contract, kills and duplicates, as short forms of
 * `pnpm lab kills --long`.
 */
import {
  testPaymentStore,
  type CreatedStore,
  type PaymentStoreSuiteOptions,
} from '@paylink/testing';
import { runDuplicates } from '../durability/duplicates.js';
import { isAsKnown, runKills } from '../durability/kills.js';
import type { DesignName } from '../durability/designs/index.js';
import type { PostgresServer } from '../../test/servers/postgres.js';

export interface Size {
  readonly kills: number;
  readonly orders: number;
  readonly seed: number;
}

/** The result, with one line per fault. */
export interface Found {
  readonly ran: string;
  readonly faults: readonly string[];
}

export function together(...found: readonly Found[]): Found {
  return {
    ran: found.map(({ ran }) => ran).join('; '),
    faults: found.flatMap(({ faults }) => faults),
  };
}

/** Runs every test of the store contract. */
export async function contract<Tx>(
  capability: PaymentStoreSuiteOptions['capability'],
  create: () => CreatedStore<Tx>,
  oneAtATime = false,
): Promise<Found> {
  const tests: (readonly [string, () => Promise<void>])[] = [];
  testPaymentStore('the store', create, {
    capability,
    oneAtATime,
    runner: {
      describe: (_, body) => body(),
      it: (title, body) => tests.push([title, body]),
    },
  });
  const faults: string[] = [];
  for (const [title, body] of tests) {
    await body().catch((error: unknown) =>
      faults.push(`${title}: ${(error as Error).message.split('\n', 1)[0]!}`),
    );
  }
  return { ran: `contract of a store (${tests.length} tests)`, faults };
}

export interface Killed {
  readonly design?: DesignName;
  readonly redis?: string;
  readonly node?: string;
}

/** Kills receivers with SIGKILL at random moments. */
export async function kills(
  server: PostgresServer,
  { kills: count, seed }: Size,
  { design = 'postgresStore', redis, node }: Killed = {},
): Promise<Found> {
  const report = await runKills(server, { design, redis, node, kills: count, seed });
  const { lost, doubled, alien, early, acknowledged, cut } = report;
  const isMet = cut > 0 && acknowledged > 0;
  return {
    ran: `${count} kills (${cut} replies cut, ${acknowledged} acknowledged)`,
    faults: [
      ...(isAsKnown(report) && early === 0
        ? []
        : [`${lost} lost, ${doubled} doubled, ${alien} alien, ${early} early`]),
      ...(isMet ? [] : ['the kills met no run at work']),
    ],
  };
}

/** Sends one notification many times at once. */
export async function duplicates(server: PostgresServer, { orders }: Size): Promise<Found> {
  const copies = 50;
  const { credited, lost, doubled, early } = await runDuplicates(server, { orders, copies });
  const isRight = credited === orders && lost === 0 && doubled === 0 && early === 0;
  return {
    ran: `${orders} orders × ${copies} duplicates`,
    faults: isRight
      ? []
      : [
          `of ${orders} orders ${credited} credited, ${lost} lost, ${doubled} doubled, ` +
            `${early} early`,
        ],
  };
}

/**
 * Runs `trySchedules` on a module of this folder. The sources are bundled, because each process
 * that is killed has a successor, which then starts in a third of the time.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Suite from '@paylink/testing/schedules';
import type * as Internal from '@paylink/testing/schedules/internal';
import { bundleScripts } from '../servers/bundle.js';

const SOURCES = '../../packages/testing/src/schedules';
const SHOPS = ['demo', 'memory', 'receipt-after-recipe', 'sql', 'sqlite'];
const SCRIPTS = {
  ...{ caller: `${SOURCES}/caller`, suite: `${SOURCES}/index`, internal: `${SOURCES}/internal` },
  ...Object.fromEntries(SHOPS.map((name) => [name, `shops/${name}`])),
};
const scripts = Object.entries(SCRIPTS).map(
  ([name, path]) => [name, new URL(`${path}.ts`, import.meta.url)] as const,
);
const bundle = await bundleScripts(Object.fromEntries(scripts));
/** For files of which each has a process of its own (`alone`): they share no bundle. */
export const removeBundle = bundle.remove;

export const shopAt = (name: string): string => join(bundle.folder, `${name}.js`);

/** A module in TypeScript, which imports the sources of our packages. */
export const sourceOf = (name: string): string =>
  fileURLToPath(new URL(`shops/${name}.ts`, import.meta.url));
process.env['NODE_OPTIONS'] = '--conditions=@paylink/source';

export const { testSchedules } = (await import(shopAt('suite'))) as typeof Suite;
export const { trySchedules } = (await import(shopAt('internal'))) as typeof Internal;

export interface Outcome {
  /** The sentences of the faults. */
  readonly faults: readonly string[];
  readonly stories: readonly string[];
  readonly orders: number;
  readonly cuts: number;
  readonly notTested: readonly string[];
}

export async function explore(
  design: string,
  options: Parameters<typeof trySchedules>[0],
): Promise<Outcome> {
  process.env['DESIGN'] = design;
  const { findings, orders, cuts, notTested } = await trySchedules(options);
  return {
    faults: findings.map(({ fault }) => fault),
    stories: findings.map(({ story }) => story.join('\n')),
    orders: orders.tried,
    cuts: cuts.tried,
    notTested,
  };
}

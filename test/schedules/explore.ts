/** Runs `trySchedules` on a module of this folder, whose processes load the packages' sources. */
import { fileURLToPath } from 'node:url';
import { trySchedules } from '@paylink/testing/schedules/internal';

process.env['NODE_OPTIONS'] = '--conditions=@paylink/source --import tsx';

export const shopAt = (name: string): string =>
  fileURLToPath(new URL(`shops/${name}.ts`, import.meta.url));

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

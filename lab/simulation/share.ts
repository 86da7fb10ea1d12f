/** The histories of one process. Its parent sends a share and receives the reports. */
import { designs, type DesignName } from './designs/index.js';
import { World, type HistoryResult } from './world.js';

/** Every `step`th history from `first` up to `end`. The designs take turns. */
export interface Share {
  readonly first: number;
  readonly end: number;
  readonly step: number;
  readonly designs: readonly DesignName[];
}

export interface Progress {
  readonly histories: number;
  readonly happenings: number;
  /** Milliseconds of virtual time. */
  readonly duration: number;
  readonly violated?: (HistoryResult & { readonly design: DesignName }) | undefined;
}

const REPORT_EVERY = 200;

process.on('message', (share: Share) => void simulate(share));

async function simulate({ first, end, step, designs: chosen }: Share): Promise<void> {
  setProduction();
  let progress = { histories: 0, happenings: 0, duration: 0 };
  for (let index = first; index < end; index += step) {
    const design = designOf(index, chosen);
    const result = await new World(index, design).run();
    progress.histories += 1;
    progress.happenings += result.happenings;
    progress.duration += result.duration;
    if (result.violations.length > 0) {
      process.send!({ ...progress, violated: { ...result, design } } satisfies Progress);
      process.disconnect();
      return;
    }
    if (progress.histories === REPORT_EVERY || index + step >= end) {
      process.send!(progress satisfies Progress);
      progress = { histories: 0, happenings: 0, duration: 0 };
    }
  }
  process.disconnect();
}

/**
 * Sets the environment of a merchant's server. Outside production, a refused signature loads the
 * diagnosis in real time.
 */
export function setProduction(): void {
  Object.assign(process.env, { NODE_ENV: 'production' });
}

/** Chooses the design by the seed, so that the number of processes does not matter. */
export function designOf(seed: number, chosen: readonly DesignName[]): DesignName {
  return chosen[seed % chosen.length]!;
}

export const RIGHT_DESIGNS = (Object.keys(designs) as DesignName[]).filter(
  (name) => !designs[name].broken,
);

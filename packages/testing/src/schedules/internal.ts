/** The names that `paylink torture` needs. Every name may change in every version. */
import type { Database } from './database.js';
import { explore, type ExploreOptions, type SchedulesReport } from './explore.js';
import { ModuleSubject, type ModuleOptions } from './module.js';
import { Program, type ProgramOptions } from './program.js';

export type { SchedulesReport } from './explore.js';
export type { Finding } from './try-one.js';

export interface TrySchedulesOptions extends ModuleOptions, ExploreOptions {}

export async function trySchedules(options: TrySchedulesOptions): Promise<SchedulesReport> {
  const open = async (database: Database) => ModuleSubject.open(options, database);
  return explore(options.databaseUrl, open, options);
}

/** A lock in memory makes any credit look right, and Paylink has one for each order. */
const TWO_PROCESSES = 'two processes of the program: pass --module to try them';

export async function tryProgram(
  options: ProgramOptions & ExploreOptions,
): Promise<SchedulesReport> {
  const open = async (database: Database) => Program.open(options, database);
  const report = await explore(options.databaseUrl, open, options);
  if (options.replay !== undefined) return report;
  return { ...report, notTested: [...report.notTested, TWO_PROCESSES] };
}

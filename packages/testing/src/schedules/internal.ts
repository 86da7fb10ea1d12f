/** The names that `paylink torture` needs. Every name may change in every version. */
export type { Finding } from './finding.js';
export { tryProgram } from './program.js';
export { trySchedules, type SchedulesReport } from './try-schedules.js';

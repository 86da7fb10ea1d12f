/** What `paylink torture` shares with `testSchedules`. Every name may change in every version. */
export type { Finding } from './finding.js';
export { trySchedules, type SchedulesReport } from './try-schedules.js';

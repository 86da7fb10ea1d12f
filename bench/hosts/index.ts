import type { Host } from './host.js';

/** The hosts that are measured, each loaded by its own servers only. Another one is a file beside this, and a line here. */
export const HOSTS = {
  'Express 5': async () => (await import('./express.js')).host,
} satisfies Record<string, () => Promise<Host>>;

export type HostName = keyof typeof HOSTS;

/** Runs before each file, also if files share a process and its modules. */
import { afterAll, afterEach, expect } from 'vitest';
import { closeServers, closeSharedServers } from './serving.js';
import { watch } from './watch.js';

/** Outside production, each refusal is diagnosed, which takes a third of the time. */
const isDiagnosed = /\/(?:doctor|invariants)\.test\.ts$/.test(expect.getState().testPath!);
Object.assign(process.env, { NODE_ENV: isDiagnosed ? 'test' : 'production' });
watch();
afterEach(closeServers);
afterAll(closeSharedServers);

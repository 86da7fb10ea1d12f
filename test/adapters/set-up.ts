/** Runs before each file, also if files share a process and its modules. */
import { afterAll, afterEach } from 'vitest';
import { closeServers, closeSharedServers } from './serving.js';
import { watch } from './watch.js';

watch();
afterEach(closeServers);
afterAll(closeSharedServers);

/** Runs before each file, also if files share a process and its modules. */
import { afterEach } from 'vitest';
import { closeServers } from './serving.js';
import { watch } from './watch.js';

watch();
afterEach(closeServers);

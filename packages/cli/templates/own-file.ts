import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A database of its own: the orders of the test do not exist at the service.
process.env['VARIABLES'] = join(mkdtempSync(join(tmpdir(), 'orders-')), 'test');

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A separate database, because the test's orders do not exist at the service.
process.env['VARIABLES'] = join(mkdtempSync(join(tmpdir(), 'orders-')), 'test');

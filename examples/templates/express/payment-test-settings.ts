import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TEST_SECRET } from '@paylink/testing';

// A separate database, because the test's orders do not exist at the service.
process.env['DATABASE_FILE'] = join(mkdtempSync(join(tmpdir(), 'orders-')), 'test');

export const port = 10_000 + (process.pid % 20_000);
export const apiKey = 'sk_test_1.for-the-emulator-of-this-test';
Object.assign(process.env, {
  PAYLINK_BASE_URL: `http://127.0.0.1:${port}/api`,
  PAYLINK_API_KEY: apiKey,
  WEBHOOK_SECRET: TEST_SECRET,
  SHOP_URL: 'http://localhost:3000',
});

import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

// Not process.loadEnvFile, whose variables jest hides from your code.
const known = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
for (const [name, value] of Object.entries(known)) process.env[name] ??= value;
// A separate database, because the test's orders do not exist at the service.
for (const name of ['VARIABLES']) {
  const value = process.env[`TEST_${name}`];
  if (!value) throw new Error(`set TEST_${name} to a database for tests`);
  process.env[name] = value;
}

import { existsSync } from 'node:fs';

// A database of its own: the orders of the test do not exist at the service.
if (existsSync('.env')) process.loadEnvFile('.env');
for (const name of ['VARIABLES']) {
  const value = process.env[`TEST_${name}`];
  if (!value) throw new Error(`set TEST_${name} to a database for tests`);
  process.env[name] = value;
}

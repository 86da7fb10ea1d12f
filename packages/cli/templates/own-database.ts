import { existsSync } from 'node:fs';

// A database of its own: the orders of the test do not exist at the service.
if (existsSync('.env')) process.loadEnvFile('.env');
const { TEST_VARIABLE } = process.env;
if (!TEST_VARIABLE) throw new Error('set TEST_VARIABLE to a database for tests');
process.env['VARIABLE'] = TEST_VARIABLE;

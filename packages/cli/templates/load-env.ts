import { existsSync } from 'node:fs';

// The settings of your machine. In production the environment has them.
if (existsSync('.env')) process.loadEnvFile('.env');

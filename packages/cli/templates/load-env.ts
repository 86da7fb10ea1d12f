import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

// Settings for your machine. In production, the environment contains them.
const known = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
for (const [name, value] of Object.entries(known)) process.env[name] ??= value;

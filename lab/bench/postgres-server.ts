/** Runs one contestant: `postgres-server.ts <contestant> <database> <pool size>`. */
import { createServer } from 'node:http';
import { Pool } from 'pg';
import { CONTESTANTS, type Contestant } from './postgres-contestants.js';
import { answerBench } from './server-process.js';

const [contestant, connectionString, size] = process.argv.slice(2) as [Contestant, string, string];
const pool = new Pool({ connectionString, max: Number(size) });
answerBench(createServer(await CONTESTANTS[contestant](pool)));

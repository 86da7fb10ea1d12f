import BetterSqlite3 from 'better-sqlite3';
import { buildBetterSqlite3 } from './build-better-sqlite3.js';
import { testOnFile } from './on-file.js';

buildBetterSqlite3();
const open = (file: string): BetterSqlite3.Database => new BetterSqlite3(file, { timeout: 5_000 });

await testOnFile('Drizzle', open, () => import('../drizzle-sqlite.js'));
await testOnFile('better-sqlite3', open, () => import('../better-sqlite3.js'));
await testOnFile('Prisma', open, () => import('../prisma-sqlite.js'));

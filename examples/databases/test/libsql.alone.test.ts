import Libsql from 'libsql';
import { testOnFile } from './on-file.js';

const open = (file: string): Libsql.Database => new Libsql(file, { timeout: 5_000 });

await testOnFile('libsql', open, () => import('../libsql.js'));

import { Ignitor } from '@adonisjs/core';

const root = new URL('../', import.meta.url);
const importer = (path: string): Promise<unknown> =>
  import(path.startsWith('.') ? new URL(path, root).href : path);

await new Ignitor(root, { importer }).httpServer().start();

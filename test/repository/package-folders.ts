import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));

/**
 * The names of the folders that hold a package; a checkout of another branch may leave others
 * behind.
 */
export const packageFolders = readdirSync(PACKAGES).filter((name) =>
  existsSync(join(PACKAGES, name, 'package.json')),
);

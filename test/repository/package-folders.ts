import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));

/** The folders with a package. A checkout of another branch may leave empty ones behind. */
export const packageFolders = readdirSync(PACKAGES).filter((name) =>
  existsSync(join(PACKAGES, name, 'package.json')),
);

/** The doors of the packages: what a user can import. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './bootstrap.mjs';

const PACKAGES = join(ROOT, 'packages');

/**
 * Lists the source of each door, by the name that is imported.
 *
 * @returns {[name: string, source: string][]}
 */
export function doors() {
  return readdirSync(PACKAGES).flatMap((folder) => {
    const { name, exports } = JSON.parse(
      readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8'),
    );
    return Object.entries(exports)
      .filter(([door]) => door !== './package.json')
      .map(
        ([
          door,
          {
            import: { types },
          },
        ]) => {
          const source = types.replace('./dist/', 'src/').replace('.d.ts', '.ts');
          return [`${name}${door.slice(1)}`, join(PACKAGES, folder, source)];
        },
      );
  });
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import type { Options } from 'tsup';
import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const BUILTIN = new RegExp(`^(${builtinModules.join('|')})$`);

/**
 * Builds raw-body in. raw-body is CommonJS: in an ES module that a merchant bundles, its `require`
 * of a module of Node would throw at startup. Here each such module becomes an import.
 */
const bundleRawBody: Plugin = {
  name: 'bundle-raw-body',
  setup(bundler) {
    bundler.onResolve({ filter: BUILTIN }, ({ path, kind }) =>
      kind === 'require-call' ? { path, namespace: 'builtin' } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `export * from 'node:${path}'`,
    }));
    // raw-body asks it for a decoder only if it is to return text.
    bundler.onResolve({ filter: /^iconv-lite$/ }, ({ path }) => ({ path, namespace: 'unused' }));
    bundler.onLoad({ filter: /./, namespace: 'unused' }, () => ({
      contents: 'module.exports = {}',
    }));
    bundler.onEnd(({ metafile }) => {
      const file = `${bundler.initialOptions.outdir!}/THIRD-PARTY.txt`;
      // A fresh clone has no such folder yet.
      mkdirSync(bundler.initialOptions.outdir!, { recursive: true });
      writeFileSync(file, licencesOf(Object.keys(metafile!.inputs)));
    });
  },
};

/** The licences of the packages that the bundle holds. */
function licencesOf(files: readonly string[]): string {
  const folders = files.flatMap((file) => /^.*\/node_modules\/[^/]+/.exec(file)?.[0] ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
      readonly name: string;
      readonly version: string;
    };
    return `${name} ${version}\n\n${readFileSync(`${folder}/LICENSE`, 'utf8').trim()}\n`;
  });
  return texts.join('\n---\n\n');
}

export default defineConfig(
  build(['src/index.ts'], { noExternal: ['raw-body'], esbuildPlugins: [bundleRawBody] }),
);

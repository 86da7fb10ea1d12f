import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * The rules of this repository. `.oxlintrc.json` has those of the language, with types.
 *
 * The dependency rules of the architecture: the doors that a package's source may import. The proof
 * (core and the adapters) knows nothing of the money (payments), and no adapter imports another.
 */
const ADAPTERS = ['express', 'fastify', 'koa', 'hono', 'next', 'nest', 'lambda'];
/** `internal` is for our own packages alone. */
const CORE = ['@paylink/core', '@paylink/core/internal'];
const allowed = {
  core: [],
  node: CORE,
  fetch: CORE,
  payments: CORE,
  client: CORE,
  testing: ['@paylink/payments'],
  bullmq: CORE,
  emulator: CORE,
  cli: ['core', 'core/internal', 'core/diagnose', 'testing', 'client', 'emulator', 'payments'].map(
    (door) => `@paylink/${door}`,
  ),
  ...Object.fromEntries(
    ADAPTERS.map((name) => [name, [...CORE, '@paylink/node', '@paylink/fetch']]),
  ),
};

const PACKAGES = new URL('packages/', import.meta.url);
const unruled = readdirSync(PACKAGES).filter(
  (name) => !(name in allowed) && existsSync(new URL(`${name}/package.json`, PACKAGES)),
);
if (unruled.length > 0)
  throw new Error(
    `Say in \`allowed\` of eslint.config.js what may be imported by: ${unruled.join(', ')}`,
  );

const BY_NAME = {
  regex: '^(\\.\\./)+([a-z-]+/)+(src|dist)/',
  message: 'A package is imported by its name, never by a path into it.',
};
const LAZILY = {
  regex: '^(@paylink/|string-width$)',
  allowTypeImports: true,
  message: 'A command loads packages by `await import()` when it runs.',
};

const boundaries = Object.entries(allowed).map(([name, doors]) => {
  // Every @paylink path but the doors: also core's other subpaths, which a third party would not
  // rely on.
  const inside = `^@paylink/(?!(${doors.map((door) => door.slice('@paylink/'.length)).join('|') || '$.'})$)`;
  const message = `packages/${name} may import only ${doors.join(', ') || 'nothing'} of the other packages.`;
  const patterns = [{ regex: inside, message }, BY_NAME, ...(name === 'cli' ? [LAZILY] : [])];
  // A selector cannot hold a slash.
  const selector = `ImportExpression[source.value=/${inside.replaceAll('/', '\\u002f')}/]`;
  return {
    files: [`packages/${name}/src/**`],
    rules: {
      'no-restricted-imports': ['error', { patterns }],
      'no-restricted-syntax': ['error', { selector, message }],
    },
  };
});

export default defineConfig(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'coverage/**',
      'test/packaging/consumer/**',
      'test/runtimes/servers/*.cjs',
      'lab/hosts/projects/**',
      'examples/jest/test/*.cjs',
      'packages/cli/templates/**',
      '**/.next/**',
      '**/.cache/**',
      'docs/.vitepress/cache/**',
      '**/next-env.d.ts',
    ],
  },
  {
    files: ['**/*.ts', '**/*.tsx', '**/*.js', '**/*.mjs', '**/*.cjs'],
    languageOptions: { parser: tseslint.parser },
    // oxlint reports the needless ones of its own rules.
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // oxfmt wraps code at 100 columns, and neither comments nor long expressions.
      'max-len': [
        'error',
        {
          code: 100,
          ignoreUrls: true,
          ignoreRegExpLiterals: true,
          ignoreTemplateLiterals: true,
          ignoreStrings: true,
          ignorePattern: 'oxlint-disable',
        },
      ],
    },
  },
  ...boundaries,
);

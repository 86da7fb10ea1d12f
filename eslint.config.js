import { existsSync, readdirSync } from 'node:fs';
import globals from 'globals';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
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

const boundaries = Object.entries(allowed).map(([name, doors]) => ({
  files: [`packages/${name}/src/**`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            // Every @paylink path but the doors: also core's other subpaths, which a third party
            // would not rely on.
            regex: `^@paylink/(?!(${doors.map((door) => door.slice('@paylink/'.length)).join('|') || '$.'})$)`,
            message: `packages/${name} may import only ${doors.join(', ') || 'nothing'} of the other packages.`,
          },
          {
            regex: '^(\\.\\./)+([a-z-]+/)+(src|dist)/',
            message: 'A package is imported by its name, never by a path into it.',
          },
        ],
      },
    ],
  },
}));

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
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      globals: globals.node,
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', '.*.cjs', 'scripts/*.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // Prettier wraps code at 100 columns, and neither comments nor long expressions.
      'max-len': [
        'error',
        {
          code: 100,
          ignoreUrls: true,
          ignoreRegExpLiterals: true,
          ignoreTemplateLiterals: true,
          ignoreStrings: true,
          ignorePattern: 'eslint-disable',
        },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Bytes are read at an index that the loop before has bounded.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // A merchant's declarations spell out an alias that no index exports. An interface would fail
      // there (TS2742).
      '@typescript-eslint/consistent-type-definitions': 'off',
      // `process.env['NAME']` is how index signatures are written under
      // noPropertyAccessFromIndexSignature.
      '@typescript-eslint/dot-notation': 'off',
      // An interface is a promise or not; where one asks for a promise, a sync body is fine.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // A listener gives a promise that settles when its reply is written, and an event emitter
      // ignores that.
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false } },
      ],
      // JavaScript callers do not read our types: what these rule out is checked at run time all
      // the same.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // A signal's reason, and what other code rejected with, are passed on as they are.
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
  {
    files: ['examples/databases/mongoose.ts', 'test/orders/mongoose.test.ts'],
    rules: {
      // Mongoose types the options of a field as a class, and everybody writes an object.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  {
    files: ['**/*.test.ts'],
    rules: {
      // `void` says that a test does not await a promise, also where its type is not one.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // A handler of a test throws what merchants' handlers throw, and a mock is looked at without
      // its object.
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    // Here a statement is there for its type alone.
    files: ['**/*.test-d.ts'],
    rules: {
      '@typescript-eslint/no-unused-vars': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
    },
  },
  {
    // Nest's modules are empty classes under a decorator, and its options plain objects that it
    // types as classes.
    files: [
      'packages/nest/test/**',
      'examples/nest/**',
      'test/adapters/hosts/nest.ts',
      'test/adapters/payments.test.ts',
    ],
    rules: {
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
  },
  ...boundaries,
);

/** Projects of the kinds that people have before they run `paylink init`. */

export interface Kind {
  readonly manifest: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly recipe: string;
  readonly server?: 'postgres' | 'mariadb' | 'mongodb' | 'supabase';
  /** Text that some printed line or some written file contains. */
  readonly says?: string;
  /** Set if `pnpm lab full-size` alone tries it, because other kinds have each of its parts. */
  readonly isPair?: boolean;
}

const json = (value: object): string => JSON.stringify(value, undefined, 2);

/** Later versions need Node 22. */
const SUPABASE = process.versions.node.startsWith('20.') ? '~2.104.0' : '^2.0.0';

/** What `npx tsc --init` writes, with the types of Node. */
const TSC_INIT = json({
  compilerOptions: {
    ...{ module: 'nodenext', target: 'esnext', types: ['node'], sourceMap: true },
    ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, strict: true },
    ...{ verbatimModuleSyntax: true, isolatedModules: true, moduleDetection: 'force' },
    ...{ noUncheckedSideEffectImports: true, skipLibCheck: true, noEmit: true },
  },
});

/** What `nest new` writes. */
const NEST_TSCONFIG = json({
  compilerOptions: {
    ...{ module: 'nodenext', moduleResolution: 'nodenext', resolvePackageJsonExports: true },
    ...{ esModuleInterop: true, isolatedModules: true, declaration: true, removeComments: true },
    ...{ emitDecoratorMetadata: true, experimentalDecorators: true, target: 'ES2023' },
    ...{ sourceMap: true, outDir: './dist', incremental: true, skipLibCheck: true },
    ...{ strictNullChecks: true, forceConsistentCasingInFileNames: true, noImplicitAny: false },
    ...{ strictBindCallApply: false, noFallthroughCasesInSwitch: false, rootDir: '.' },
  },
});

/** What `create-next-app` writes. */
const NEXT_TSCONFIG = json({
  compilerOptions: {
    ...{ target: 'ES2017', lib: ['dom', 'dom.iterable', 'esnext'], allowJs: true, strict: true },
    ...{ skipLibCheck: true, noEmit: true, esModuleInterop: true, module: 'esnext' },
    ...{ moduleResolution: 'bundler', resolveJsonModule: true, isolatedModules: true },
    ...{ jsx: 'react-jsx', incremental: true, paths: { '@/*': ['./src/*'] } },
  },
  include: ['next-env.d.ts', '**/*.ts', '**/*.tsx'],
  exclude: ['node_modules'],
});

const NEST = {
  '@nestjs/common': '^11.0.0',
  '@nestjs/core': '^11.0.0',
  '@nestjs/platform-express': '^11.0.0',
  'reflect-metadata': '^0.2.2',
  rxjs: '^7.8.0',
};
const NEXT = { next: '^16.0.0', react: '^19.0.0', 'react-dom': '^19.0.0' };
const NEST_MAIN = `import { NestFactory } from '@nestjs/core';
import { PaymentsModule } from './payment-webhook';

async function bootstrap() {
  const app = await NestFactory.create(PaymentsModule);
  app.setGlobalPrefix('api');
  await app.listen(process.env.PORT ?? 4000);
}
void bootstrap();
`;
const TYPESCRIPT = { typescript: '^5.9.0', tsx: '^4.20.0', '@types/node': '^20.19.0' };

export const KINDS: Readonly<Record<string, Kind>> = {
  'Express in TypeScript on PostgreSQL': {
    manifest: {
      type: 'module',
      dependencies: { express: '^5.0.0', pg: '^8.0.0' },
      devDependencies: { ...TYPESCRIPT, '@types/express': '^5.0.0', '@types/pg': '^8.0.0' },
    },
    files: { 'tsconfig.json': TSC_INIT, 'src/index.ts': 'const PORT = 8080;\nexport { PORT };\n' },
    recipe: 'pg',
    says: 'localhost:8080/webhooks/payments',
    server: 'postgres',
    isPair: true,
  },
  'Express in CommonJS on SQLite': {
    manifest: { dependencies: { express: '^5.0.0', libsql: '^0.5.0' } },
    files: { 'index.js': 'app.listen(process.env.PORT || 5050);\n' },
    recipe: 'libsql',
    says: 'localhost:5050/webhooks/payments',
    isPair: true,
  },
  'Fastify in TypeScript': {
    manifest: {
      type: 'module',
      dependencies: { fastify: '^5.0.0', '@electric-sql/pglite': '^0.5.0' },
      devDependencies: TYPESCRIPT,
    },
    files: {
      'tsconfig.json': TSC_INIT,
      'src/server.ts':
        'export const options = {\n  host: "127.0.0.1",\n  port: 3333,\n};\n// app.listen(1234)\n',
    },
    recipe: 'pglite',
    says: 'localhost:3333/webhooks/payments',
  },
  'Koa in CommonJS on MySQL by Sequelize': {
    manifest: { dependencies: { koa: '^3.0.0', sequelize: '^6.0.0', mysql2: '^3.0.0' } },
    recipe: 'mysql2',
    server: 'mariadb',
    says: 'orders.js uses mysql2 alongside sequelize',
  },
  'Nest on MariaDB by TypeORM': {
    manifest: {
      dependencies: { ...NEST, typeorm: '^1.0.0', mysql2: '^3.0.0' },
      devDependencies: { ...TYPESCRIPT, '@types/express': '^5.0.0' },
    },
    files: { 'tsconfig.json': NEST_TSCONFIG, 'src/main.ts': NEST_MAIN },
    recipe: 'typeorm-mysql',
    server: 'mariadb',
    says: 'localhost:4000/webhooks/payments',
    isPair: true,
  },
  'Nest with jest': {
    manifest: {
      dependencies: { ...NEST, pg: '^8.0.0' },
      devDependencies: {
        ...{ ...TYPESCRIPT, '@types/jest': '^30.0.0', '@types/express': '^5.0.0' },
        ...{ '@types/pg': '^8.0.0', jest: '^30.0.0', 'ts-jest': '^29.2.0' },
      },
      jest: {
        moduleFileExtensions: ['js', 'json', 'ts'],
        rootDir: 'src',
        testRegex: '.*\\.spec\\.ts$',
        transform: { '^.+\\.(t|j)s$': 'ts-jest' },
        testEnvironment: 'node',
      },
    },
    files: { 'tsconfig.json': NEST_TSCONFIG, 'src/main.ts': NEST_MAIN },
    recipe: 'pg',
    server: 'postgres',
  },
  'Next.js with src/ and Prisma': {
    manifest: {
      dependencies: { ...NEXT, '@prisma/client': '^7.0.0', '@prisma/adapter-pg': '^7.0.0' },
      devDependencies: { ...TYPESCRIPT, '@types/react': '^19.0.0', prisma: '^7.0.0' },
    },
    files: {
      'tsconfig.json': NEXT_TSCONFIG,
      'src/app/page.tsx': 'export default function Page() {\n  return null;\n}\n',
      'prisma/schema.prisma': `generator client {
  provider = "prisma-client"
  output   = "../src/generated/prisma"
}

datasource db {
  provider = "postgresql"
}

model Order {
  reference String    @id
  amount    BigInt
  currency  String
  createdAt DateTime  @default(now()) @map("created_at")
  paidAt    DateTime? @map("paid_at")
  @@map("orders")
}
`,
    },
    recipe: 'prisma',
    server: 'postgres',
    says: 'prisma generate',
  },
  'Next.js in JavaScript': {
    manifest: { scripts: { dev: 'next dev -p 3100' }, dependencies: { ...NEXT, libsql: '^0.5.0' } },
    files: { 'app/page.jsx': '', 'jsconfig.json': '{}' },
    recipe: 'libsql',
    says: 'localhost:3100/api/webhooks/payments',
    isPair: true,
  },
  'Hono in TypeScript': {
    manifest: {
      type: 'module',
      dependencies: {
        hono: '^4.0.0',
        '@hono/node-server': '^1.0.0',
        kysely: '^0.28.0',
        pg: '^8.0.0',
      },
      devDependencies: { ...TYPESCRIPT, '@types/pg': '^8.0.0' },
    },
    files: {
      'tsconfig.json': TSC_INIT,
      'src/index.ts': 'export const settings = { hostname: "::1", port: 8787 };\n',
    },
    recipe: 'kysely',
    server: 'postgres',
    says: 'localhost:8787/webhooks/payments',
  },
  'Express on Supabase': {
    manifest: { dependencies: { express: '^5.0.0', '@supabase/supabase-js': SUPABASE } },
    recipe: 'supabase',
    server: 'supabase',
  },
  'Express with Mongoose': {
    manifest: { dependencies: { express: '^5.0.0', mongoose: '^9.0.0' } },
    recipe: 'mongoose',
    server: 'mongodb',
  },
  'node:http with vitest': {
    manifest: { type: 'module', devDependencies: { vitest: '^4.0.0' } },
    files: { 'server.js': '' },
    recipe: 'memory',
    says: 'npx --no-install vitest run payment-webhook.test.js',
  },
  'AWS Lambda in CommonJS': {
    manifest: {
      dependencies: { libsql: '^0.5.0' },
      devDependencies: { '@types/aws-lambda': '^8.0.0' },
    },
    recipe: 'libsql',
  },
  'Next.js, Pages Router': {
    manifest: { dependencies: { ...NEXT, libsql: '^0.5.0' } },
    files: { 'pages/index.jsx': '' },
    recipe: 'libsql',
  },
};

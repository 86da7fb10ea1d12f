/** The frameworks of `paylink init`, and the package.json of a project. */
export const FRAMEWORKS = [
  'express',
  'fastify',
  'koa',
  'hono',
  'nest',
  'next-app',
  'next-pages',
  'lambda',
  'node',
] as const;
export type Framework = (typeof FRAMEWORKS)[number];

export interface Manifest {
  readonly private?: boolean;
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

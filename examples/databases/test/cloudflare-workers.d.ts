/** Cloudflare's types, as far as the recipe for D1 uses them. `wrangler types` writes them all. */
declare module 'cloudflare:workers' {
  interface D1PreparedStatement {
    bind(...values: unknown[]): D1PreparedStatement;
    first<Row>(): Promise<Row | null>;
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as Cloudflare has it
    all<Row>(): Promise<{ readonly results: Row[] }>;
    run(): Promise<D1Result>;
  }
  interface D1Result {
    readonly meta: { readonly changes: number };
  }
  interface D1Database {
    prepare(sql: string): D1PreparedStatement;
    batch(statements: readonly D1PreparedStatement[]): Promise<D1Result[]>;
  }
  export const env: { readonly DB: D1Database };
}

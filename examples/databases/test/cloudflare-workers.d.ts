/** Cloudflare's types, as far as the recipe for D1 uses them. `wrangler types` writes them all. */
declare module 'cloudflare:workers' {
  interface D1PreparedStatement {
    bind(...values: unknown[]): D1PreparedStatement;
    first<Row>(): Promise<Row | null>;
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as Cloudflare has it
    all<Row>(): Promise<{ readonly results: Row[] }>;
    run(): Promise<{ readonly meta: { readonly changes: number } }>;
  }
  export const env: { readonly DB: { prepare(sql: string): D1PreparedStatement } };
}

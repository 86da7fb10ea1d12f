/** Runs the contestant on Bun or Deno, and prints its port. */
import { app } from './app.js';

interface Runtime {
  readonly Bun?: { serve(options: object): { readonly port: number } };
  readonly Deno?: {
    serve(options: object, handler: unknown): { readonly addr: { readonly port: number } };
  };
}
const { Bun, Deno } = globalThis as Runtime;
const at = { port: 0, hostname: '127.0.0.1' };
const port = Bun
  ? Bun.serve({ ...at, fetch: app.fetch }).port
  : Deno!.serve({ ...at, onListen: () => undefined }, app.fetch).addr.port;
console.log(JSON.stringify({ port }));

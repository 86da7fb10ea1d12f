/** The bundle that `wrangler deploy --dry-run` made, in workerd, by miniflare. */
import { Miniflare } from 'miniflare';

const { PORT, ORDERS_URL, WEBHOOK_SECRET } = process.env;
const worker = new Miniflare({
  modules: true,
  scriptPath: 'dist/worker.js',
  modulesRules: [{ type: 'ESModule', include: ['**/*.js'] }],
  compatibilityDate: '2026-07-01',
  compatibilityFlags: ['nodejs_compat'],
  bindings: { ORDERS_URL, WEBHOOK_SECRET },
  host: '127.0.0.1',
  port: Number(PORT),
});
await worker.ready;

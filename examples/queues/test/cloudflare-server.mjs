/** Runs a bundled Worker in Miniflare, which needs Node 22, and says its address. */
const [miniflare, scriptPath, bindings, databaseUrl] = process.argv.slice(2);
const { Miniflare } = await import(miniflare);
const server = new Miniflare({
  modules: true,
  scriptPath,
  compatibilityDate: '2026-07-01',
  compatibilityFlags: ['nodejs_compat'],
  bindings: JSON.parse(bindings),
  hyperdrives: { HYPERDRIVE: databaseUrl },
  queueProducers: { PAYMENTS: 'payments' },
  queueConsumers: { payments: { maxBatchSize: 5, maxBatchTimeout: 0.1, maxRetries: 100 } },
});
console.log(String(await server.ready));

/** Runs a bundled Worker with D1 in Miniflare, which needs Node 22. Prints its address. */
const [miniflare, scriptPath] = process.argv.slice(2);
const { Miniflare } = await import(miniflare);
const server = new Miniflare({
  modules: true,
  scriptPath,
  compatibilityDate: '2026-07-01',
  d1Databases: ['DB'],
});
console.log(String(await server.ready));

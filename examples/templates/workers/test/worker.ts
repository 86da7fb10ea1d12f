/** Gives the test the Worker's bindings: a separate database and the emulator. */
import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { after } from 'node:test';
import { startEmulator } from '@paylink/emulator';
import { getPlatformProxy } from 'wrangler';

export const emulator = await startEmulator();
const platform = await getPlatformProxy<Env>({ persist: false });
export const env: Env = {
  ...platform.env,
  PAYLINK_BASE_URL: emulator.baseUrl,
  PAYLINK_API_KEY: emulator.apiKey,
  WEBHOOK_SECRET: emulator.webhookSecret,
  SHOP_URL: 'http://localhost:8787',
};
for (const file of readdirSync('migrations').sort())
  for (const statement of readFileSync(`migrations/${file}`, 'utf8').split(/;$/m))
    if (statement.trim() !== '') await env.DB.prepare(statement).run();

// Node has no such module.
registerHooks({
  resolve: (name, context, next) =>
    name === 'cloudflare:workers'
      ? { url: import.meta.url, shortCircuit: true }
      : next(name, context),
});

after(async () => {
  await emulator.close();
  await platform.dispose();
});

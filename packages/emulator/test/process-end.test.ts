/** A test process ends as soon as it has closed its emulator. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { bundleScript } from '../../../test/servers/bundle.js';

it('keeps no process alive after its close, although all its times are long', async () => {
  const bundle = await bundleScript(new URL('../src/index.ts', import.meta.url));
  const source = `
    import { createServer } from 'node:http';
    import { startEmulator } from ${JSON.stringify(bundle.path)};
    const server = createServer((req, res) => req.resume().on('end', () => res.end()));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const long = 3_600_000;
    let isRead;
    const read = new Promise((resolve) => (isRead = resolve));
    const emulator = await startEmulator({
      webhook: { url: 'http://127.0.0.1:' + server.address().port },
      assumed: { deliveryTimeout: long, statusAnswer: () => (isRead(), new Promise(() => {})) },
    });
    await emulator.createLink({ reference: 'order-1', amount: 1_000 });
    const headers = { 'X-Api-Key': emulator.apiKey };
    fetch(emulator.baseUrl + '/v1/payments/order-1', { headers }).catch(() => undefined);
    await read;
    await emulator.pay('order-1');
    await emulator.createLink({ reference: 'order-2', amount: 1_000 });
    await emulator.pay('order-2', { delivery: { delay: long } });
    const { state } = await emulator.waitForDelivery({ reference: 'order-1', timeout: long });
    await emulator.close();
    server.close();
    console.log(state);`;
  const options = ['--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, options, { timeout: 25_000 });
  await bundle.remove();
  expect(stdout).toBe('delivered\n');
});

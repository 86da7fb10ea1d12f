/** An emulator with a state file that its test kills. It reports each answered payment. */
import { startEmulator } from '../src/index.js';

const emulator = await startEmulator({
  state: process.argv[2],
  webhook: { url: 'http://127.0.0.1:9/nothing' },
});
for (let number = 1; ; number++) {
  const reference = `order-${number}`;
  await emulator.createLink({ amount: 1, reference });
  await emulator.pay(reference);
  process.stdout.write(`paid ${number}\n`);
}

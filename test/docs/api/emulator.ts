import { EmulatorError, startEmulator } from '@paylink/emulator';

// #region startEmulator
const emulator = await startEmulator({
  webhook: { url: 'http://localhost:3000/webhooks/payments' },
});
await emulator.createLink({ amount: 15_000, reference: 'order-42' });
await emulator.pay('order-42');
await emulator.waitForDelivery({ reference: 'order-42' });
await emulator.close();
// #endregion

// #region EmulatorError
try {
  await emulator.pay('order-of-nobody');
} catch (error) {
  if (error instanceof EmulatorError) console.log(error.code);
}
// #endregion

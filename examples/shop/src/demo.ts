/** Starts the shop and the emulated payment service, and drives purchases, frauds and faults. */
import { parseArgs } from 'node:util';
import { driveBrokenRelease } from './demo/broken-release.js';
import { driveFrauds } from './demo/frauds.js';
import { driveOtherWays } from './demo/other-ways.js';
import { drivePurchase } from './demo/purchase.js';
import { startDemo, type RunningDemo } from './demo/running-demo.js';
import { driveSecondTry } from './demo/second-try.js';
import { ShopClient } from './demo/shop-client.js';
import { createStory } from './demo/story.js';

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;
const story = createStory(process.stdout);

try {
  await main();
} catch (error) {
  console.error(`\n${explain(error)}`);
  process.exitCode = 1;
}

function explain(error: unknown): string {
  const { code, port } = error as { readonly code?: unknown; readonly port?: unknown };
  if (code === 'EADDRINUSE') {
    const other = `PORT=${Number(port) + 1} npm start takes another one`;
    return (
      `Port ${String(port)} is taken, perhaps by another demo. ${other}, and without PORT ` +
      'any free one.'
    );
  }
  return `The demo failed: ${error instanceof Error ? error.message : String(error)}`;
}

async function main(): Promise<void> {
  // As for customers: outside production, Paylink also diagnoses signatures, some time later.
  Object.assign(process.env, { NODE_ENV: process.env['NODE_ENV'] ?? 'production' });
  const { values } = parseArgs({ options: { exit: { type: 'boolean', default: false } } });
  const stop = listenForStop();
  const demo = await startDemo(readPort(process.env['PORT']));
  try {
    const outcome = await Promise.race([drive(demo, !values.exit), stop]);
    if (outcome !== 'done') {
      process.exitCode = SIGNALS[outcome];
      return;
    }
    if (!values.exit) {
      story.say('\nBoth go on running. Press Ctrl-C to stop them.');
      await stop;
      story.say('\nStopped.');
    }
  } finally {
    await demo.close();
  }
}

async function drive(demo: RunningDemo, staysUp: boolean): Promise<'done'> {
  const { shopUrl, emulator } = demo;
  story.say('Three ways to one credit, and what is refused, over real HTTP');
  story.say('');
  story.say(`The shop:             ${shopUrl}`);
  story.say(
    `The payment service:  ${emulator.payUrl} (an emulator on this machine: no real money)`,
  );
  story.say('');
  story.say(
    'When a customer has paid, the payment service tells the shop by a message over the internet.',
  );
  story.say(
    'But anybody can send messages. So the service and the shop share a secret, and the service',
  );
  story.say(
    'signs each message: only a holder of the secret can compute the signature, and it changes',
  );
  story.say('with every letter.');
  story.say('');
  story.say('Lines that begin with [paylink] are the log of the shop.');

  const shop = new ShopClient(shopUrl);
  const paid = await drivePurchase(story, shop, demo);
  await driveOtherWays(story, shop, demo);
  await driveSecondTry(story, shop, demo);
  const unpaid = await driveFrauds(story, shop, paid);
  await driveBrokenRelease(story, shop, demo);

  story.say('\nEverything came out as it should.');
  if (!staysUp) {
    story.say('To look at it in a browser: npm start');
    return 'done';
  }
  story.say('\nLook for yourself, in a browser:');
  story.say(`  Buy something:            ${shopUrl}/`);
  story.say(`  The order that is paid:   ${shopUrl}/orders/${paid.reference}`);
  story.say(`  The thief's order:        ${shopUrl}/orders/${unpaid.reference}`);
  story.say(`  Pay it after all:         ${unpaid.payUrl}`);
  story.say(`  What the service sent:    ${emulator.dashboardUrl}`);
  story.say('\nThe API of the service, and the secrets of this run:');
  story.say(`  API:                      ${emulator.baseUrl}`);
  story.say(`  API key:                  ${emulator.apiKey}`);
  story.say(`  Webhook secret:           ${emulator.webhookSecret}`);
  story.say('\nAttack the webhook as strangers would, from the root of the repository:');
  story.say(`  ${auditCommand(demo, paid.reference)}`);
  return 'done';
}

/** Runs the command line by its sources, so nothing is built. Its secret opens only this demo. */
function auditCommand({ shopUrl, emulator }: RunningDemo, reference: string): string {
  const paylink = 'node --conditions=@paylink/source --import tsx packages/cli/src/main.ts';
  const target = `--to ${shopUrl}/webhooks/payments --reference ${reference}`;
  return `WEBHOOK_SECRET=${emulator.webhookSecret} ${paylink} audit ${target}`;
}

/** Resolves at the first signal to stop. Further ones change nothing: the shutdown is under way. */
function listenForStop(): Promise<keyof typeof SIGNALS> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        resolve(signal);
      });
    }
  });
}

function readPort(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error('PORT must be a whole number from 0 to 65535');
  return port;
}

/**
 * Runs an emulator in its own process, so that its memory can be measured alone. Needs --expose-gc.
 * Answers one IPC question at a time.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { startEmulator, type Emulator } from '@paylink/emulator';
import type { Answer, Question } from './emulator-child.js';

let emulator: Emulator;
let paid = 0;

// Counted in this process: the emulator may have given up a connection that the receiver still
// counts.
const sockets = new Set<Socket>();
let peak = 0;
subscribe('net.client.socket', (message) => {
  const { socket } = message as { readonly socket: Socket };
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  peak = Math.max(peak, inUse());
});

/** Counts the open connections. */
function inUse(): number {
  return Array.from(sockets).filter(({ destroyed, writableEnded }) => !destroyed && !writableEnded)
    .length;
}

const ANSWERS: {
  [Kind in Question['ask']]: (question: Extract<Question, { ask: Kind }>) => Promise<Answer>;
} = {
  async start({ webhook, assumed }) {
    emulator = await startEmulator({ webhook, assumed });
    return {};
  },
  async pay({ references }) {
    for (const reference of references) await payOne(reference);
    return {};
  },
  async stand() {
    const deliveries = emulator.deliveries();
    const owed = deliveries.filter(({ state }) => state === 'pending');
    return {
      paid,
      kept: deliveries.length,
      owed: owed.length,
      attempts: deliveries.reduce((sum, { attempts }) => sum + attempts.length, 0),
      fewest: owed.reduce(
        (least, { attemptCount }) => Math.min(least, attemptCount),
        Number.MAX_SAFE_INTEGER,
      ),
      connections: sockets.size,
      peak,
    };
  },
  async measure() {
    // A second collection frees objects that the first one finalised.
    globalThis.gc!();
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc!();
    const { heapUsed, external } = process.memoryUsage();
    return { live: heapUsed + external };
  },
};

async function payOne(reference: string): Promise<void> {
  const request = new Request(`${emulator.baseUrl}/v1/payment-links`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${emulator.apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount: 15_000, reference, description: 'A basket', single_use: true }),
  });
  const response = await emulator.fetch(request);
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  await emulator.pay(reference);
  paid += 1;
}

process.on('message', (question: Question) => {
  ANSWERS[question.ask](question as never).then(
    (answer) => process.send!(answer),
    (error: unknown) => process.send!({ failed: String(error) } satisfies Answer),
  );
});

// A stopped run leaves no process behind.
process.on('disconnect', () => process.exit());

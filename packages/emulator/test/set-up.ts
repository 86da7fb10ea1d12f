/** Emulators and receivers that end with their test. */
import { onTestFinished } from 'vitest';
import { startEmulator, type Emulator, type EmulatorOptions } from '../src/index.js';
import { startReceiver } from './receiver.js';

interface Part {
  close(): Promise<unknown>;
}

export function closeAfterwards<Opened extends Part>(part: Opened): Opened {
  onTestFinished(async () => void (await part.close()));
  return part;
}

export async function start(options?: EmulatorOptions): Promise<Emulator> {
  return closeAfterwards(await startEmulator(options));
}

/** Starts an emulator and the receiver of its notifications. */
export async function setUp(
  answer?: Parameters<typeof startReceiver>[0],
  options: EmulatorOptions = {},
) {
  const receiver = closeAfterwards(await startReceiver(answer));
  const webhook = { url: receiver.url, ...options.webhook };
  return { receiver, emulator: await start({ ...options, webhook }) };
}

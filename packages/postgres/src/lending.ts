import { untilAborted } from './aborting.js';
import type { Guard } from './guard.js';

/** Gives `work` what is guarded, for as long as it runs and the signal is not aborted. */
export async function lend<Tx>(guarded: Guard<Tx>, work: (tx: Tx) => Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await untilAborted(signal, work(guarded.target), () => guarded.close(signal.reason));
  } finally {
    guarded.close(new Error('the handler had ended'));
  }
}

/** One thing that an audit tries, and the probes that are made of the attack kit. */
import type { Attack, AttackCategory, Severity } from '../attacks/attack.js';
import type { Answer } from './connection.js';
import type { Laboratory } from './laboratory.js';

export interface Probe {
  readonly id: string;
  readonly name: string;
  readonly category: AttackCategory;
  readonly expected: readonly number[];
  /** Whether a server may close the connection in place of an answer. */
  readonly mayClose?: boolean;
  readonly severity: Severity;
  readonly advice: string;
  /** Whether it loads the server so that nothing else can be judged meanwhile. */
  readonly alone?: boolean;
  perform(laboratory: Laboratory): Promise<Observation>;
}

/** What was seen. */
export interface Observation {
  /** The answer that is judged by its status. */
  readonly answer: Answer;
  /** What is wrong beside the status; the probe has failed then. */
  readonly fault?: string;
  /** Replies beside the answer. */
  readonly others?: readonly Answer[];
}

/** The attacks that any client can send, sent as bytes. */
export function probeOf({ id, name, category, delivery, status, accepts, severity, advice }: Attack): Probe {
  return {
    id,
    name,
    category,
    expected: [status, ...accepts],
    mayClose: status === 413,
    severity,
    advice,
    async perform({ request, exchange, exchangePatiently }) {
      const bytes = request(Object.entries(delivery.headers), delivery.rawBody);
      return { answer: await (category === 'genuine' ? exchangePatiently(bytes) : exchange(bytes)) };
    },
  };
}

/** A probe of an audit, and the probes of the attack kit. */
import type { Attack } from '@paylink/testing';
import type { RawAttack, WireAnswer } from '@paylink/testing/internal';
import type { CauseId } from './cause.js';
import { isAcknowledged, PATIENCE, type AuditSession } from './session.js';

export interface Probe extends Pick<Attack, 'id' | 'name' | 'what' | 'category' | 'severity'> {
  readonly expected: readonly number[];
  /** Set if a server may close the connection instead of answering. */
  readonly mayClose?: boolean;
  readonly fault: CauseId;
  /** Set if another probe judges the status. */
  readonly onlyFault?: boolean;
  perform(session: AuditSession): Promise<Observation>;
}

export interface Observation {
  /** The answer whose status is judged. */
  readonly answer: WireAnswer;
  /** A fault besides the status. Fails the probe. */
  readonly fault?: string;
  /** Replies besides the answer. */
  readonly others?: readonly WireAnswer[];
}

/** Turns an attack of any HTTP client into a probe. */
export function probeOf({ delivery, status, accepts, ...attack }: Attack): Probe {
  return {
    ...attack,
    expected: [status, ...accepts],
    mayClose: status === 413,
    perform: (session) =>
      send(session, attack, session.request(Object.entries(delivery.headers), delivery.rawBody)),
  };
}

/** Turns an attack that needs a raw socket into a probe. */
export function probeOfRaw(raw: RawAttack): Probe {
  const { bytes, status, accepts, method, mustClose, ...attack } = raw;
  return {
    ...attack,
    expected: [status, ...accepts],
    perform: (session) =>
      mustClose === true
        ? answerAndClose(session, bytes(session))
        : send(session, attack, bytes(session), method),
  };
}

async function send(
  { exchange, exchangePatiently }: AuditSession,
  { category }: Pick<Attack, 'category'>,
  bytes: Uint8Array,
  method?: string,
): Promise<Observation> {
  const sending = category === 'genuine' ? exchangePatiently(bytes) : exchange(bytes, method);
  return { answer: await sending };
}

/** Checks that the server closes the connection after an acknowledgement. */
function answerAndClose(session: AuditSession, bytes: Uint8Array): Promise<Observation> {
  const { answerOn, request, genuineLines, material } = session;
  return session.onWire(async (wire) => {
    void wire.write(bytes);
    const answer = await answerOn(wire, PATIENCE);
    if (!isAcknowledged(answer)) return { answer };
    await wire.write(request(genuineLines(), material.body));
    const next = await answerOn(wire, PATIENCE);
    if (typeof next === 'string') return { answer };
    return { answer, fault: 'the server answered another request on the same connection' };
  });
}

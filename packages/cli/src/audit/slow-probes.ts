/** Probes of slow, cut-off and endless bodies, and of their cost for a server. */
import { ACKNOWLEDGED, chunked, type Wire, type WireAnswer } from '@paylink/testing/internal';
import { orClosed, PATIENCE, statusOf, type AuditSession } from './session.js';
import type { Observation, Probe } from './probe.js';

type Traits = Pick<Probe, 'category' | 'expected' | 'mayClose' | 'severity' | 'fault'>;

const slow: Traits = {
  category: 'invalid',
  expected: [408, 400],
  mayClose: true,
  severity: 'medium',
  fault: 'no_deadline',
};

/** Run together, but without other probes, which a server with one worker would not serve. */
export const slowProbes: readonly Probe[] = [
  {
    id: 'D06',
    name: 'D06 ends a request whose body stops in the middle',
    what: 'a body that stops in the middle',
    ...slow,
    perform: (session) => incomplete(session, () => Promise.resolve()),
  },
  {
    id: 'D10',
    name: 'D10 ends a request whose body trickles in',
    what: 'a body that trickles in',
    ...slow,
    perform: (session) =>
      incomplete(session, async (wire) => {
        const end = performance.now() + session.timeout;
        while (wire.ending === undefined && performance.now() < end) {
          await session.wait(200);
          await wire.write(' ');
        }
      }),
  },
];

const SLOW_SENDERS = 100;
/** The allowed slowdown of an answer beside slow senders. */
const SLOWER = 10;

/** Run one after the other. */
export const loadProbes: readonly Probe[] = [
  {
    id: 'D07',
    name: 'D07 ends a request whose sender ends in the middle of the body',
    what: 'a sender that ends in the middle of the body',
    ...slow,
    perform: (session) =>
      incomplete(session, async (wire) => {
        wire.finish();
      }),
  },
  {
    id: 'D07',
    name: 'D07 survives senders that disconnect in the middle of the body',
    what: 'senders that disconnect in the middle of the body',
    ...slow,
    async perform(session) {
      for (let time = 0; time < 10; time++) {
        const wire = await session.open();
        await wire.write(firstHalf(session));
        wire.reset();
      }
      return { answer: 'closed' };
    },
  },
  {
    id: 'D02',
    name: 'D02 stops a body without a declared length at a limit',
    what: 'an endless body without a declared length',
    category: 'invalid',
    // 411 and 501 mean that the server does not read chunks.
    expected: [413, 400, 401, 403, 408, 411, 501],
    mayClose: true,
    severity: 'high',
    fault: 'no_limit',
    perform: uploadEndlessly,
  },
  {
    id: 'D11',
    name: `D11 serves a genuine delivery alongside ${SLOW_SENDERS} slow senders`,
    what: `a genuine delivery alongside ${SLOW_SENDERS} slow senders`,
    category: 'genuine',
    expected: ACKNOWLEDGED,
    severity: 'high',
    fault: 'one_at_a_time',
    async perform(session) {
      const began = performance.now();
      await session.serves();
      const patience = Math.max(PATIENCE, SLOWER * (performance.now() - began));
      const senders = await Promise.all(Array.from({ length: SLOW_SENDERS }, () => session.open()));
      try {
        await Promise.all(senders.map((sender) => sender.write(firstHalf(session), 1_000)));
        return { answer: await orClosed(session.serves(patience)) };
      } finally {
        for (const sender of senders) sender.destroy();
      }
    },
  },
];

/** Pieces of 64 kB: 32 MB, more than any sensible limit. */
const ENDLESS = 512;

async function uploadEndlessly(session: AuditSession): Promise<Observation> {
  const { request, genuineLines, timeout } = session;
  const head = request(genuineLines(), Buffer.alloc(0), {
    framing: [['Transfer-Encoding', 'chunked']],
  });
  const chunk = chunked(Buffer.alloc(0x10000, 0x20)).subarray(0, -5);
  return session.onWire(async (wire) => {
    let [isRead, isAnswered, taken] = [false, false, 0];
    await wire.write(head);
    const upload = (async () => {
      for (let count = 0; count < ENDLESS; count++) {
        if (wire.ending !== undefined || isAnswered) return;
        const began = performance.now();
        await wire.write(chunk, timeout);
        if (performance.now() - began < timeout) taken += 1;
      }
      isRead = true;
      await wire.write('0\r\n\r\n');
    })();
    // The time limit starts again at each accepted piece, because a busy machine needs longer for
    // 32 MB than for one answer.
    let answer: WireAnswer;
    let before: number;
    do {
      before = taken;
      answer = await wire.answer('POST', timeout);
    } while (answer === 'no answer' && taken > before);
    isAnswered = true;
    wire.destroy();
    await upload;
    // Some servers read to the end before they answer 413, but keep only the bytes up to a limit.
    const isStopped = !isRead || [413, 408].includes(statusOf(answer) ?? 0);
    return isStopped ? { answer } : { answer, fault: 'the server read all 32 MB' };
  });
}

/** Sends the first half of a genuine delivery, then calls `then`. Returns the answer. */
function incomplete(
  session: AuditSession,
  then: (wire: Wire) => Promise<unknown>,
): Promise<Observation> {
  return session.onWire(async (wire) => {
    await wire.write(firstHalf(session));
    const answering = session.answerOn(wire, session.timeout).finally(wire.destroy);
    const [answer] = await Promise.all([answering, then(wire)]);
    return { answer };
  });
}

function firstHalf({ material, request, genuineLines }: AuditSession): Buffer {
  const whole = Buffer.concat([material.body, Buffer.alloc(10_000, 0x20)]);
  const head = request(genuineLines(whole), Buffer.alloc(0), {
    framing: [['Content-Length', String(whole.length)]],
  });
  return Buffer.concat([head, material.body.subarray(0, 8)]);
}

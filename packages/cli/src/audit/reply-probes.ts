/** Probes of the replies: to duplicates, to forged deliveries, and of their contents. */
import { ACKNOWLEDGED, UNKNOWN_SECRET, type WireAnswer } from '@paylink/testing/internal';
import {
  asksForRetry,
  isAcknowledged,
  orClosed,
  PATIENCE,
  statusOf,
  type AuditSession,
} from './session.js';
import type { Observation, Probe } from './probe.js';

const REFUSED = [401, 400, 403];
const DUPLICATES = 100;

const refusesDuplicates = {
  category: 'genuine',
  expected: ACKNOWLEDGED,
  severity: 'medium',
  fault: 'refuses_duplicates',
} as const;

export const replyProbes: readonly Probe[] = [
  {
    id: 'H01',
    name: 'H01 acknowledges a replay',
    what: 'a replay',
    ...refusesDuplicates,
    async perform({ serves }) {
      await serves();
      return { answer: await serves() };
    },
  },
  {
    id: 'H02',
    name:
      `H02 answers 2xx or 503 to ${DUPLICATES} concurrent duplicates, and acknowledges a later ` +
      'duplicate',
    what: `${DUPLICATES} concurrent duplicates`,
    ...refusesDuplicates,
    async perform({ material, request, genuineLines, exchangeWithin, serves }) {
      const bytes = request(genuineLines(), material.body);
      const send = (): Promise<WireAnswer> => orClosed(exchangeWithin(PATIENCE, bytes));
      const others = await Promise.all(Array.from({ length: DUPLICATES }, send));
      // A server with one worker and a short queue does not answer every duplicate. The service
      // retries them.
      const wrong = others.filter(
        (answer) => typeof answer !== 'string' && !isAcknowledged(answer) && !asksForRetry(answer),
      );
      const statuses = [...new Set(wrong.map(statusOf))].join(', ');
      const fault = `${wrong.length} of ${DUPLICATES} duplicates got another answer: ${statuses}`;
      return { answer: await serves(), others, ...(wrong.length === 0 ? {} : { fault }) };
    },
  },
  {
    id: 'F01',
    name: 'F01 verifies before it parses',
    what: 'a forged body that is not JSON',
    category: 'forged',
    expected: REFUSED,
    severity: 'medium',
    fault: 'parses_first',
    onlyFault: true,
    async perform(session) {
      const { mac, body } = session.material;
      const send = (sent: Buffer): Promise<WireAnswer> =>
        session.exchangePatiently(signed(session, mac(sent, UNKNOWN_SECRET), sent));
      const usual = await send(body);
      const answer = await send(Buffer.from('{"reference":'));
      const [expected, actual] = [statusOf(usual), statusOf(answer)];
      if (expected === actual || isAcknowledged(answer)) return { answer, others: [usual] };
      const fault =
        `${actual ?? 'no answer'} to a forged body that is not JSON, ` +
        `${expected ?? 'no answer'} to a forged JSON body`;
      return { answer, others: [usual], fault };
    },
  },
  {
    id: 'J02',
    name: 'J02 answers every fault of the signature with the same bytes',
    what: 'signatures with different faults',
    category: 'forged',
    expected: REFUSED,
    severity: 'low',
    fault: 'tells_reason',
    onlyFault: true,
    perform: compareRefusals,
  },
  {
    id: 'J10',
    name: 'J10 does not quote a body that is not JSON',
    what: 'a signed body that is not JSON',
    category: 'invalid',
    expected: REFUSED,
    severity: 'medium',
    fault: 'quotes_body',
    onlyFault: true,
    async perform({ request, genuineLines, exchange }) {
      const canary = 'zq7kv3xw';
      const body = Buffer.from(`${canary} is not JSON`);
      const answer = await exchange(request(genuineLines(body), body));
      if (typeof answer === 'string') return { answer };
      const isQuoted = `${answer.bytes.toString('latin1')}${answer.body}`.includes(canary);
      return { answer, ...(isQuoted ? { fault: 'the reply quotes the body' } : {}) };
    },
  },
];

/** Returns a delivery with this signature line, or without one. */
export function signed(
  { material, request, genuineLines }: AuditSession,
  signature: string | undefined,
  body = material.body,
): Buffer {
  const line = signature === undefined ? [] : [[material.names.signature, signature] as const];
  return request([...genuineLines(body).slice(0, 2), ...line], body);
}

async function compareRefusals(session: AuditSession): Promise<Observation> {
  const { material, exchangePatiently } = session;
  const send = (signature?: string): Promise<WireAnswer> =>
    exchangePatiently(signed(session, signature));
  const forged = material.mac(material.body, 'another secret');
  // Two answers to the same request may differ in a date or a number. Ignores such differences.
  const same = [await send(forged), await send(forged), await send(forged)];
  const changing = namesThatChange(same);
  const bodies = new Set(same.map((answer) => (typeof answer === 'string' ? answer : answer.body)));
  const compare = (answer: WireAnswer): string => spellReply(answer, changing, bodies.size === 1);
  const malformed = [
    forged.slice(1),
    `g${forged.slice(1)}`,
    forged.toUpperCase(),
    material.signature.slice(0, 32),
  ];
  const others: WireAnswer[] = [];
  for (const signature of [undefined, '', ...malformed]) others.push(await send(signature));
  const differing = others.filter((answer) => compare(answer) !== compare(same[0]!));
  const fault = `${differing.length} of ${others.length} answers differ from the usual answer`;
  const compared = { answer: same[0]!, others: [...same.slice(1), ...others] };
  return differing.length === 0 ? compared : { ...compared, fault };
}

function namesThatChange(answers: readonly WireAnswer[]): Set<string> {
  const values = new Map<string, Set<string>>();
  for (const answer of answers) {
    if (typeof answer === 'string') continue;
    for (const [name, value] of answer.headers)
      values.set(name, (values.get(name) ?? new Set()).add(value));
  }
  // Dates change, even if all three answers came within one second.
  const changing = [...values].filter(([, each]) => each.size > 1).map(([name]) => name);
  return new Set(['date', 'age', ...changing]);
}

function spellReply(answer: WireAnswer, changing: ReadonlySet<string>, withBody: boolean): string {
  if (typeof answer === 'string') return answer;
  const headers = [...answer.headers].filter(([name]) => !changing.has(name));
  return JSON.stringify([answer.status, headers, withBody ? answer.body : '']);
}

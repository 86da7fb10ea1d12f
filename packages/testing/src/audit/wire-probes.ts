/** What only a socket of one's own can send: repeated header lines, broken frames, slow and cut bodies. */
import { ACKNOWLEDGED } from '../attacks/attack.js';
import type { Answer } from './connection.js';
import { isAcknowledged, statusOf, wait, type Laboratory, type Lines } from './laboratory.js';
import type { Observation, Probe } from './probe.js';

type Traits = Omit<Probe, 'id' | 'name' | 'perform'>;

const REFUSED = [401, 400, 403];

const repeated: Traits = {
  category: 'forged',
  expected: REFUSED,
  severity: 'high',
  advice:
    'A proxy may look at one of two header lines, and the receiver at the other. Refuse a repeated signature or event header: most servers join the lines with ", ", which must not be split again.',
};
const broken: Traits = {
  category: 'forged',
  expected: REFUSED,
  mayClose: true,
  severity: 'high',
  advice: 'This is no HTTP (RFC 9112): the server, or what stands in front of it, must refuse it.',
};
const genuine: Traits = {
  category: 'genuine',
  expected: ACKNOWLEDGED,
  severity: 'high',
  advice: 'This is a genuine notification in a form that HTTP allows: whoever paid was refused.',
};
const framing: Traits = {
  category: 'invalid',
  expected: [400, 501],
  mayClose: true,
  severity: 'medium',
  advice:
    'Two parties that read the frame of a request differently can be made to see different requests (request smuggling). The server must answer 400: bring it, and what stands in front of it, up to date.',
};
const tooLarge: Traits = {
  category: 'invalid',
  expected: [413, 400, 401, 403],
  mayClose: true,
  severity: 'medium',
  advice:
    'Refuse what is declared, or grows, over a limit at once (413), before it is all read: a stranger would fill the memory otherwise.',
};
const slow: Traits = {
  category: 'invalid',
  expected: [408, 400],
  mayClose: true,
  severity: 'medium',
  advice:
    'Give a whole body a total time (10 s is plenty), not only a time between two pieces of it, and answer 408 or close: else strangers occupy every connection. The audit waits for `timeout`, which must be longer.',
};
const cut: Traits = {
  category: 'invalid',
  expected: [400, 408],
  mayClose: true,
  severity: 'high',
  advice: 'A body that is not all there must neither be verified nor wait for ever: end the request when the sender goes away.',
};
const otherMethod: Traits = {
  category: 'invalid',
  expected: [405, 404, 403, 400, 501],
  severity: 'low',
  advice: 'The service sends POST. Answer 405 to anything else, with Allow: POST.',
};

const CHUNKED: Lines = [['Transfer-Encoding', 'chunked']];

/** What frameworks answer by themselves, before any code of a merchant: to OPTIONS many, and Fastify 4 to QUERY. */
const BY_FRAMEWORKS: Readonly<Record<string, readonly number[]>> = { OPTIONS: ACKNOWLEDGED, QUERY: [500] };

/** Something that is done to a whole request. */
type Alteration = (laboratory: Laboratory) => Buffer;

function sent(id: string, name: string, traits: Traits, alter: Alteration): Probe {
  return {
    id,
    name: `${id} ${name}`,
    ...traits,
    async perform(laboratory) {
      const { exchange, exchangePatiently } = laboratory;
      const bytes = alter(laboratory);
      return { answer: await (traits.category === 'genuine' ? exchangePatiently(bytes) : exchange(bytes)) };
    },
  };
}

/** A genuine delivery whose signature is written otherwise, in as many lines as there are values. */
function withSignature(...write: readonly ((right: string) => string)[]): Alteration {
  return ({ material, request, genuineLines }) => {
    const [type, event] = genuineLines();
    const lines = write.map((each) => [material.names.signature, each(material.signature)] as const);
    return request([type!, event!, ...lines], material.body);
  };
}

const right = (value: string): string => value;
const zeros = (): string => '0'.repeat(64);

export const wireProbes: readonly Probe[] = [
  ...slowProbes(),
  sent('A03', 'refuses two header lines with the same right signature', repeated, withSignature(right, right)),
  sent('A04', 'refuses a right line before a forged one', repeated, withSignature(right, zeros)),
  sent('A04', 'refuses a forged line before a right one', repeated, withSignature(zeros, right)),
  sent(
    'A07',
    'accepts blanks and tabs around the signature, which HTTP strips',
    genuine,
    withSignature((value) => ` \t${value}\t `),
  ),
  sent(
    'A08',
    'refuses a signature that is folded over two lines',
    broken,
    withSignature((value) => `${value.slice(0, 32)}\r\n ${value.slice(32)}`),
  ),
  sent(
    'A12',
    'refuses the right signature with a NUL behind it',
    broken,
    withSignature((value) => `${value}\0`),
  ),
  sent(
    'A15',
    'refuses a control character in the signature',
    broken,
    withSignature((value) => `${value.slice(0, 63)}\u0001`),
  ),
  sent(
    'A23',
    'refuses a signature that stands in the query',
    { ...repeated, advice: 'Read the signature from the X-Service-Signature header, and from nowhere else.' },
    ({ material, request, genuineLines }) => {
      const query = `${material.names.signature}=${material.signature}&signature=${material.signature}`;
      return request(genuineLines().slice(0, 2), material.body, { query });
    },
  ),
  sent(
    'E02',
    'refuses two lines of the event header',
    { ...repeated, category: 'invalid', expected: [400, 401, 403, 422, ...ACKNOWLEDGED], severity: 'low' },
    ({ material, request, genuineLines }) => request([...genuineLines(), [material.names.event, 'payment.failed']], material.body),
  ),
  sent('D01', 'reads a body that comes in chunks of one byte', genuine, ({ material, request, genuineLines }) => {
    const chunks = Array.from(material.body, (byte) => Buffer.from([0x31, 13, 10, byte, 13, 10]));
    return Buffer.concat([request(genuineLines(), Buffer.alloc(0), { framing: CHUNKED }), ...chunks, Buffer.from('0\r\n\r\n')]);
  }),
  {
    id: 'D02',
    name: 'D02 stops a body without a declared length at a limit',
    ...tooLarge,
    perform: uploadEndlessly,
  },
  sent('D03', 'refuses a declared length of 1 GB at once', tooLarge, ({ request, genuineLines }) =>
    request(genuineLines(), Buffer.alloc(1_024, 0x20), { framing: [['Content-Length', '1073741824']] }),
  ),
  sent('D09', 'refuses two lengths that differ', framing, ({ material, request, genuineLines }) => {
    const { length } = material.body;
    const lengths: Lines = [
      ['Content-Length', String(length)],
      ['Content-Length', String(length + 1)],
    ];
    return request(genuineLines(), material.body, { framing: lengths });
  }),
  sent('D09', 'refuses a negative length', framing, ({ material, request, genuineLines }) =>
    request(genuineLines(), material.body, { framing: [['Content-Length', '-1']] }),
  ),
  sent('D09', 'refuses a length beside a chunked body', framing, ({ material, request, genuineLines }) => {
    const head = request(genuineLines(), Buffer.alloc(0), {
      framing: [['Content-Length', String(material.body.length)], ...CHUNKED],
    });
    const size = material.body.length.toString(16);
    return Buffer.concat([head, Buffer.from(`${size}\r\n`), material.body, Buffer.from('\r\n0\r\n\r\n')]);
  }),
  {
    id: 'D16',
    name: 'D16 says 100 Continue, or answers, where it is asked to',
    ...genuine,
    severity: 'low',
    perform: expectContinue,
  },
  sent(
    'D17',
    'survives an expectation that nobody knows',
    { ...genuine, severity: 'low', expected: [417, 400, ...ACKNOWLEDGED] },
    ({ material, request, genuineLines }) => request([...genuineLines(), ['Expect', 'foo']], material.body),
  ),
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'].map(method),
  sent(
    'D25',
    'survives 2,000 headers',
    { ...genuine, severity: 'medium', expected: [431, 400, 413, ...ACKNOWLEDGED], mayClose: true },
    ({ material, request, genuineLines }) => {
      const many = Array.from({ length: 2_000 }, (_, index) => [`X-Header-${index}`, 'value'] as const);
      return request([...genuineLines(), ...many], material.body);
    },
  ),
];

function method(name: string): Probe {
  const expected = [...otherMethod.expected, ...(BY_FRAMEWORKS[name] ?? [])];
  return {
    id: 'D18',
    name: `D18 refuses ${name}`,
    ...otherMethod,
    expected,
    mayClose: name === 'QUERY',
    async perform({ material, request, genuineLines, exchange }) {
      return { answer: await exchange(request(genuineLines(), material.body, { method: name }), name) };
    },
  };
}

/** Past any sensible limit: 32 MB. */
const ENDLESS = 512;

async function uploadEndlessly({ request, genuineLines, open }: Laboratory): Promise<Observation> {
  const connection = await open();
  try {
    await connection.write(request(genuineLines(), Buffer.alloc(0), { framing: CHUNKED }));
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 0x20), Buffer.from('\r\n')]);
    const upload = (async () => {
      for (let count = 0; count < ENDLESS && !connection.ended; count++) await connection.write(chunk);
    })();
    const answer = await connection.answer();
    connection.destroy();
    await upload;
    return { answer };
  } finally {
    connection.destroy();
  }
}

async function expectContinue({ material, request, genuineLines, open }: Laboratory): Promise<Observation> {
  const connection = await open();
  try {
    const whole = request([...genuineLines(), ['Expect', '100-continue']], material.body);
    await connection.write(whole.subarray(0, whole.length - material.body.length));
    const interim = await connection.answer();
    if (statusOf(interim) !== 100) return { answer: interim };
    await connection.write(material.body);
    return { answer: await connection.answer() };
  } finally {
    connection.destroy();
  }
}

function slowProbes(): Probe[] {
  return [
    {
      id: 'D06',
      name: 'D06 gives a body that stands still its time and no more',
      ...slow,
      perform: (laboratory) => incomplete(laboratory, () => Promise.resolve()),
    },
    {
      id: 'D10',
      name: 'D10 gives a body that trickles its time and no more',
      ...slow,
      perform: (laboratory) =>
        incomplete(laboratory, async (connection) => {
          const end = performance.now() + laboratory.timeout;
          while (!connection.ended && performance.now() < end) {
            await wait(200);
            await connection.write(Buffer.from(' '));
          }
        }),
    },
    {
      id: 'D07',
      name: 'D07 ends a request whose sender says in the middle that no more will come',
      ...cut,
      perform: (laboratory) => incomplete(laboratory, async (connection) => connection.finish()),
    },
    {
      id: 'D07',
      name: 'D07 survives senders that go away in the middle of the body',
      ...cut,
      async perform(laboratory) {
        for (let time = 0; time < 10; time++) {
          const connection = await laboratory.open();
          await connection.write(firstHalf(laboratory));
          connection.reset();
        }
        return { answer: 'closed' };
      },
    },
  ];
}

/** A genuine delivery that lacks its end, and what the sender does then. */
async function incomplete(
  laboratory: Laboratory,
  then: (connection: Awaited<ReturnType<Laboratory['open']>>) => Promise<unknown>,
): Promise<Observation> {
  const connection = await laboratory.open();
  try {
    await connection.write(firstHalf(laboratory));
    const [answer] = await Promise.all([connection.answer().finally(connection.destroy), then(connection)]);
    return { answer };
  } finally {
    connection.destroy();
  }
}

function firstHalf({ material, request, genuineLines }: Laboratory): Buffer {
  const whole = Buffer.concat([material.body, Buffer.alloc(10_000, 0x20)]);
  const head = request(genuineLines(whole), Buffer.alloc(0), { framing: [['Content-Length', String(whole.length)]] });
  return Buffer.concat([head, material.body.subarray(0, 8)]);
}

const DUPLICATES = 100;
const SLOW_SENDERS = 100;

/** What takes the whole server, or compares its answers. */
export const crowdProbes: readonly Probe[] = [
  {
    id: 'H01',
    name: 'H01 acknowledges a replay',
    ...genuine,
    severity: 'medium',
    advice:
      'A replay and a retry of the service look the same. Acknowledge what is already done with 200 and do nothing: an error would have it sent again and again.',
    async perform({ serves }) {
      await serves();
      return { answer: await serves() };
    },
  },
  {
    id: 'H02',
    name: `H02 answers ${DUPLICATES} concurrent duplicates with 2xx or 503, and acknowledges them in the end`,
    ...genuine,
    alone: true,
    advice:
      'Duplicates at once must end in 200 or, while the first is still at work, in 503 with Retry-After; claim the key atomically, in the transaction of the effect. That the order was credited once cannot be seen from outside: look it up.',
    async perform({ material, request, genuineLines, exchange, serves }) {
      const bytes = request(genuineLines(), material.body);
      const others = await Promise.all(Array.from({ length: DUPLICATES }, () => exchange(bytes).catch((): Answer => 'closed')));
      const wrong = others.filter((answer) => !isAcknowledged(answer) && statusOf(answer) !== 503);
      const fault = `${wrong.length} of ${DUPLICATES} were answered otherwise: ${[...new Set(wrong.map(spell))].join(', ')}`;
      return { answer: await serves(), others, ...(wrong.length === 0 ? {} : { fault }) };
    },
  },
  {
    id: 'D11',
    name: `D11 serves others while ${SLOW_SENDERS} senders are slow`,
    ...genuine,
    alone: true,
    advice:
      'Each slow sender must cost a connection and a little memory, and no worker: limit the time of a body, or put a server in front that takes whole requests before it hands them on.',
    async perform(laboratory) {
      const senders = await Promise.all(Array.from({ length: SLOW_SENDERS }, () => laboratory.open()));
      try {
        await Promise.all(senders.map((sender) => sender.write(firstHalf(laboratory))));
        return { answer: await laboratory.serves() };
      } finally {
        for (const sender of senders) sender.destroy();
      }
    },
  },
  {
    id: 'J02',
    name: 'J02 answers every fault of the signature with the same bytes',
    category: 'forged',
    expected: REFUSED,
    severity: 'low',
    advice:
      'Answers that differ tell a stranger what was wrong with a guess. Send one fixed reply for a signature that is absent, malformed or wrong, and put the reason into your log.',
    perform: compareRefusals,
  },
  {
    id: 'J10',
    name: 'J10 tells nothing of a body that is no JSON',
    category: 'invalid',
    expected: [400, 401, 403, 415, 422],
    severity: 'medium',
    advice: 'The message of a JSON parser quotes the body: never send it. Answer with a fixed text.',
    async perform({ request, genuineLines, exchange }) {
      const canary = 'zq7kv3xw';
      const body = Buffer.from(`${canary} is no JSON`);
      const answer = await exchange(request(genuineLines(body), body));
      const quoted = typeof answer !== 'string' && textOf(answer).includes(canary);
      return { answer, ...(quoted ? { fault: 'the reply quotes the body' } : {}) };
    },
  },
];

async function compareRefusals({ material, request, genuineLines, exchange }: Laboratory): Promise<Observation> {
  const [type, event] = genuineLines();
  const send = (signature?: string): Promise<Answer> => {
    const lines: Lines = [type!, event!, ...(signature === undefined ? [] : [[material.names.signature, signature] as const])];
    return exchange(request(lines, material.body));
  };
  const forged = material.mac(material.body, 'another secret');
  // What differs between two answers to the same request is a date or a number, and tells nothing.
  const same = [await send(forged), await send(forged), await send(forged)];
  const changing = namesThatChange(same);
  const bodies = new Set(same.map((answer) => (typeof answer === 'string' ? answer : answer.body.toString('latin1'))));
  const compare = (answer: Answer): string => spellReply(answer, changing, bodies.size === 1);
  const signatures = [undefined, '', forged.slice(1), `g${forged.slice(1)}`, forged.toUpperCase(), material.signature.slice(0, 32)];
  const others: Answer[] = [];
  for (const signature of signatures) others.push(await send(signature));
  const differing = others.filter((answer) => compare(answer) !== compare(same[0]!));
  return {
    answer: same[0]!,
    others,
    ...(differing.length === 0 ? {} : { fault: `${differing.length} of ${others.length} answers differ from the others` }),
  };
}

function namesThatChange(answers: readonly Answer[]): Set<string> {
  const values = new Map<string, Set<string>>();
  for (const answer of answers) {
    if (typeof answer === 'string') continue;
    for (const [name, value] of answer.headers) values.set(name, (values.get(name) ?? new Set()).add(value));
  }
  // Even where the three came within one second.
  const changing = [...values].filter(([, each]) => each.size > 1).map(([name]) => name);
  return new Set(['date', 'age', ...changing]);
}

function spellReply(answer: Answer, changing: ReadonlySet<string>, withBody: boolean): string {
  if (typeof answer === 'string') return answer;
  const headers = answer.headers.filter(([name]) => !changing.has(name));
  return JSON.stringify([answer.status, headers, withBody ? answer.body.toString('latin1') : '']);
}

function spell(answer: Answer): string {
  return typeof answer === 'string' ? answer : String(answer.status);
}

export function textOf({ headers, body }: { readonly headers: Lines; readonly body: Buffer }): string {
  return `${headers.map((line) => line.join(': ')).join('\n')}\n\n${body.toString('latin1')}`;
}

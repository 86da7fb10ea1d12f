/** The attack kit against a running receiver, in whatever language it is written. */
import { attacks, type AttackOptions } from '../attacks/index.js';
import { ACKNOWLEDGED, materialOf, type Material, type Severity } from '../attacks/attack.js';
import { headerNames, type HeaderNameOptions } from '../delivery-forms.js';
import { requireSecret } from '../signed-delivery.js';
import type { Answer } from './connection.js';
import { createLaboratory, isAcknowledged, statusOf, type Laboratory } from './laboratory.js';
import { probeOf, type Observation, type Probe } from './probe.js';
import { crowdProbes, textOf, wireProbes } from './wire-probes.js';

export interface AuditOptions {
  /** The address of the receiver, `http:` or `https:`. */
  readonly url: string | URL;
  /** The receiver's webhook secret; a string stands for its UTF-8 bytes. */
  readonly secret: string | Uint8Array;
  /**
   * The reference in the genuine deliveries. **They reach the merchant's code**, some hundred times: name an order of your
   * tests, which may be credited. Default `paylink-audit`, which a receiver that looks its orders up may refuse.
   */
  readonly reference?: string | undefined;
  /** The most bytes that the receiver takes. Without it, the limit is not tried to the byte. */
  readonly bodyLimit?: number | undefined;
  /** Whether the receiver asks the API before it credits: then no field of the body decides. Default false. */
  readonly confirm?: boolean | undefined;
  /** Other names of the two headers, as the receiver's option of the same name. */
  readonly headers?: HeaderNameOptions | undefined;
  /** More headers of every request: for a tunnel or a gateway in front of the receiver. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds for each answer, for the one to a slow body too: longer than the receiver gives a body. Default 15,000. */
  readonly timeout?: number | undefined;
  /** How many attacks at once, 1 to 32. Default 4. */
  readonly concurrency?: number | undefined;
  /** Ends the audit, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each result as it comes. */
  readonly onResult?: ((result: AuditResult) => void) | undefined;
}

export interface AuditResult {
  /** The row of the table of attacks, "A06" for one. Several results have the same. */
  readonly id: string;
  /** A sentence that begins with the id. */
  readonly name: string;
  /** Whether there is no finding. */
  readonly passed: boolean;
  /** Why it was not tried, or not judged. */
  readonly skipped?: string;
  /** The statuses that are right. Where a server may also just close the connection, that passes without one. */
  readonly expected: readonly number[];
  /** The status that came; `undefined` where none did. */
  readonly actual: number | undefined;
  /** What was seen beside the status. */
  readonly detail?: string;
  /** Of a finding: `critical` where money could be credited that nobody has paid. */
  readonly severity?: Severity;
  /** What to change, and why. */
  readonly advice: string;
  readonly durationMs: number;
}

export interface AuditReport {
  /** Without its query, which may hold a key. */
  readonly url: string;
  /** Whether there is no finding. */
  readonly passed: boolean;
  /** In the order of the table of attacks. */
  readonly results: readonly AuditResult[];
  /** The results that have not passed, the worst first. */
  readonly findings: readonly AuditResult[];
  readonly durationMs: number;
}

/**
 * Attacks a running receiver over sockets of its own, and says what is wrong with it and how to mend it. It sends forged and
 * broken deliveries and some hundred genuine ones, so run it against servers of your own, and not against the one in production.
 *
 * The report holds no secret, no signature and nothing of a reply but its status.
 *
 * @throws TypeError for an option that is wrong; Error when there is no connection to the server; the signal's reason.
 */
export async function auditReceiver(options: AuditOptions): Promise<AuditReport> {
  const started = performance.now();
  const { url, secret, timeout, concurrency, reference, bodyLimit, onResult, signal } = readOptions(options);
  const names = headerNames(options.headers);
  const material = materialOf({ secret, reference, bodyLimit, names });
  const laboratory = createLaboratory({ url, timeout, signal }, material, options.requestHeaders ?? {});
  const probes = probesOf({ ...options, reference }, bodyLimit);

  const tell = (result: AuditResult): AuditResult => {
    onResult?.(result);
    return result;
  };
  const first = tell(await greet(laboratory, url));
  const trusted = first.actual !== undefined && first.actual >= 200 && first.actual < 300;
  const judged = async (probe: Probe): Promise<AuditResult> => tell(await attempt(probe, laboratory, trusted));
  const together = await pooled(
    probes.filter(({ alone }) => alone !== true),
    concurrency,
    judged,
    signal,
  );
  const alone = await pooled(
    probes.filter((probe) => probe.alone === true),
    1,
    judged,
    signal,
  );
  const afterwards = [...leaks(laboratory, trusted), ...notTried(options)].map(tell);
  return report(url, [first, ...sorted([...together, ...alone, ...afterwards])], started);
}

function readOptions(options: AuditOptions) {
  const { secret, timeout = 15_000, concurrency = 4, reference = 'paylink-audit', bodyLimit = 65_536, onResult, signal } = options;
  const url = readUrl(options.url);
  if (typeof secret !== 'string' && !ArrayBuffer.isView(secret)) throw new TypeError('secret must be a string or a Uint8Array');
  requireSecret(secret);
  if (!(Number.isFinite(timeout) && timeout >= 1)) throw new TypeError('timeout must be a number of milliseconds, at least 1');
  if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 32)) {
    throw new TypeError('concurrency must be a whole number from 1 to 32');
  }
  const strange = Object.keys(options.headers ?? {}).find((name) => name !== 'signature' && name !== 'event');
  if (strange !== undefined) {
    throw new TypeError(
      'headers takes { signature, event }, the names of the two headers: for more headers there is requestHeaders',
    );
  }
  for (const [name, value] of Object.entries(options.requestHeaders ?? {})) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new TypeError('requestHeaders has a name or a value that no header can have');
    }
  }
  return { url, secret, timeout, concurrency, reference, bodyLimit, onResult, signal };
}

function readUrl(value: string | URL): URL {
  const url = URL.canParse(String(value)) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TypeError('url must be an address that begins with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new TypeError('url must not hold a password: give an Authorization in requestHeaders');
  return url;
}

function probesOf(options: AuditOptions, bodyLimit: number): Probe[] {
  const { secret, reference, confirm, headers } = options;
  const kit: AttackOptions = { secret, reference, bodyLimit, confirm, headers };
  const known = (id: string): boolean => options.bodyLimit !== undefined || (id !== 'D05' && id !== 'D03');
  const [slow, rest] = [wireProbes.filter(isSlow), wireProbes.filter((probe) => !isSlow(probe))];
  // Those that wait are begun first, and the others go on beside them.
  return [
    ...slow,
    ...attacks(kit)
      .filter(({ id }) => known(id))
      .map(probeOf),
    ...rest,
    ...crowdProbes,
  ];
}

function isSlow({ id }: Probe): boolean {
  return id === 'D06' || id === 'D10';
}

/** A genuine delivery, before anything else: without it, a refusal would prove nothing. */
async function greet(laboratory: Laboratory, url: URL): Promise<AuditResult> {
  const started = performance.now();
  let answer: Answer;
  try {
    answer = await laboratory.serves();
  } catch (error) {
    throw connectionError(error, url);
  }
  const actual = statusOf(answer);
  const passed = isAcknowledged(answer);
  return {
    id: 'H03',
    name: 'H03 acknowledges a genuine delivery',
    passed,
    expected: ACKNOWLEDGED,
    actual,
    ...(passed ? {} : { severity: 'high' as const, detail: 'what is refused below may be refused for this reason alone' }),
    advice: adviceOnGreeting(answer),
    durationMs: Math.round(performance.now() - started),
  };
}

function adviceOnGreeting(answer: Answer): string {
  if (typeof answer === 'string') {
    return `The server gave ${answer === 'closed' ? 'no answer and closed the connection' : 'no answer in time'}: is this the address of the receiver, and does anything read the body twice?`;
  }
  const { status } = answer;
  if (status === 202)
    return 'Answer 200, and only when the effect is durable: 202 says that nothing has happened yet, and what is lost then is lost.';
  if (status >= 300 && status < 400) return 'A redirect is not followed, by the service either: name the address that it leads to.';
  if (status === 401 || status === 403) {
    return 'A genuine delivery was refused. Is it the same secret on both sides, under the same names of headers, and are the raw bytes verified?';
  }
  if (status === 404 || status === 405) {
    return 'There is no route for POST at this path; or else the receiver looks its orders up, and the reference is none that it knows.';
  }
  if (status === 503)
    return 'The receiver says to come again: does it know the order of the `reference`, and do its store and the API answer?';
  if (status >= 500) return 'The receiver failed on its own side: its log says why.';
  return isAcknowledged(answer)
    ? 'Nothing to do.'
    : 'The receiver understood a genuine delivery and refused it: its log says why. Does it know the order of the `reference`?';
}

function connectionError(error: unknown, url: URL): unknown {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== 'string') return error;
  return new Error(`no connection to ${url.origin} (${code}): ${hintOn(code)}`, { cause: error });
}

function hintOn(code: string): string {
  if (code === 'ECONNREFUSED') return 'nothing listens there. Is the receiver running, on this port?';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name is not known. Is it spelt right?';
  if (code === 'ETIMEDOUT') return 'there is no answer. Does a firewall stand between?';
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(code)) {
    return 'its certificate is not trusted. For one of your own, name its authority in NODE_EXTRA_CA_CERTS.';
  }
  if (/SSL|EPROTO|TLS/.test(code)) return 'it does not speak TLS there. Is it http:// in place of https://?';
  return 'is this the address of the receiver, and the right one of http:// and https://?';
}

/** Tries one thing, and then whether the server still serves. */
async function attempt(probe: Probe, laboratory: Laboratory, trusted: boolean): Promise<AuditResult> {
  const started = performance.now();
  const observation = await observe(probe, laboratory);
  for (const answer of [observation.answer, ...(observation.others ?? [])]) {
    if (typeof answer !== 'string') laboratory.replies.push({ to: probe.name, reply: answer });
  }
  const verdict = judge(probe, observation);
  const after = trusted && verdict.passed ? await laboratory.serves().catch((): Answer => 'closed') : undefined;
  const { id, name, expected, advice } = probe;
  const result = {
    id,
    name,
    expected,
    actual: statusOf(observation.answer),
    advice,
    durationMs: Math.round(performance.now() - started),
  };
  // Where nothing is accepted, only what is accepted all the same tells something.
  if (!trusted && (verdict.passed || !isSuccess(observation.answer) || probe.category === 'genuine')) {
    return { ...result, passed: true, skipped: 'the genuine delivery was not accepted either, so this proves nothing' };
  }
  if (after !== undefined && !(isAcknowledged(after) || isSuccess(after))) {
    const detail = 'afterwards a genuine delivery was not acknowledged any more';
    return { ...result, passed: false, severity: 'high', detail };
  }
  return { ...result, ...verdict };
}

async function observe(probe: Probe, laboratory: Laboratory): Promise<Observation> {
  try {
    return await probe.perform(laboratory);
  } catch (error) {
    // The connection failed, in the middle of an audit: as if the server had closed it. Anything else is the caller's.
    if (typeof (error as { readonly code?: unknown } | null)?.code !== 'string') throw error;
    return { answer: 'closed', fault: 'the server took no more connections' };
  }
}

type Judgement = Pick<AuditResult, 'passed' | 'severity' | 'detail'> & { readonly advice?: string };

function judge(probe: Probe, { answer, fault }: Observation): Judgement {
  const status = statusOf(answer);
  if (status === 429) {
    return {
      passed: false,
      severity: 'low',
      detail: 'not judged',
      advice: 'The server limits how often it is asked: lift that for the audit, or take a lower concurrency.',
    };
  }
  const right = status === undefined ? answer === 'closed' && probe.mayClose === true : probe.expected.includes(status);
  if (right && fault === undefined) return { passed: true };
  const detail = fault ?? (typeof answer === 'string' ? NOTHING[answer] : undefined);
  return { passed: false, severity: severityOf(probe, answer, right), ...(detail === undefined ? {} : { detail }) };
}

const NOTHING = { closed: 'the server closed the connection without an answer', 'no answer': 'no answer in time' };

/** A forged delivery that is refused by the wrong status harms less than one that is accepted. */
function severityOf({ category, severity }: Probe, answer: Answer, right: boolean): Severity {
  if (right || category === 'genuine' || isSuccess(answer)) return severity;
  const status = statusOf(answer);
  if (status === undefined || status >= 500) return 'medium';
  return 'low';
}

function isSuccess(answer: Answer): boolean {
  const status = statusOf(answer);
  return status !== undefined && status >= 200 && status < 300;
}

/** What no reply of the whole audit may hold. */
function leaks({ replies, material }: Laboratory, trusted: boolean): AuditResult[] {
  const texts = replies.map(({ to, reply }) => ({ to, text: textOf(reply) }));
  const search = (found: (text: string) => boolean): string[] => texts.filter(({ text }) => found(text)).map(({ to }) => to);
  const secrets = secretsOf(material);
  const traces =
    /\n\s+at .+:\d+:\d+|Traceback \(most recent call last\)|\n\s+at [\w.$]+\([\w.]+:\d+\)|goroutine \d+ \[running\]|Stack trace:|\.(?:php|rb|py):\d+/;
  return [
    leak(
      'J01',
      'no reply holds the secret or a signature',
      search((text) => secrets.some((secret) => text.includes(secret))),
      {
        severity: 'critical',
        advice:
          'Whoever is told the right signature can forge at once. Never send the secret, an expected or a received signature: not in an error either.',
      },
    ),
    leak(
      'J11',
      'no reply holds a stack trace',
      search((text) => traces.test(text)),
      {
        severity: 'medium',
        advice: 'Answer failures with a fixed text, and put the trace into your log. In most frameworks this is production mode.',
      },
    ),
  ].map((result) => (trusted || !result.passed ? result : { ...result, skipped: 'only refusals were seen' }));
}

function secretsOf({ secret, signature, body, mac }: Material): string[] {
  const text = Buffer.from(secret).toString('latin1');
  // A short one would be found in any text.
  return [signature, mac(body, 'another secret'), ...(text.length < 8 ? [] : [text])];
}

function leak(
  id: string,
  sentence: string,
  found: readonly string[],
  traits: Pick<AuditResult, 'severity' | 'advice'>,
): AuditResult {
  const { advice, severity } = traits;
  const result = { id, name: `${id} ${sentence}`, expected: [], actual: undefined, advice, durationMs: 0 };
  if (found.length === 0 || severity === undefined) return { ...result, passed: true };
  return { ...result, passed: false, severity, detail: `in ${found.length} replies, the first to: ${found[0]!}` };
}

/** What an audit cannot try, and why: nothing is left out in silence. */
function notTried({ bodyLimit, confirm }: AuditOptions): AuditResult[] {
  const reasons: readonly (readonly [id: string, what: string, why: string | undefined])[] = [
    ['A20', 'refuses signatures that are no text', 'values of a program cannot be sent'],
    ['C24', 'refuses a success whose signed body contradicts it', confirm === true ? 'the API decides' : undefined],
    ['D03', 'refuses a body of twice the limit', bodyLimit === undefined ? 'no bodyLimit was named' : undefined],
    ['D05', 'accepts exactly its limit, and not a byte more', bodyLimit === undefined ? 'no bodyLimit was named' : undefined],
    ['D22', 'holds over HTTP/2', 'the audit speaks HTTP/1.1'],
    ['D26', 'is reached by its own route only', 'which paths lead to the receiver is for its router to say'],
    ['E06', 'credits no body that is relabelled as a success', 'it looks genuine from outside: confirm each payment by the API'],
    ['E07', 'finds a success that was relabelled on its way', 'it cannot be seen from a delivery: reconcile pending orders'],
    ['H04', 'credits once for two bodies of one reference', 'what was credited cannot be seen from outside: look up the order'],
  ];
  return reasons.flatMap(([id, what, why]) => {
    if (why === undefined) return [];
    const result = { id, name: `${id} ${what}`, passed: true, skipped: why, expected: [], actual: undefined };
    return [{ ...result, advice: 'Not tried by this audit.', durationMs: 0 }];
  });
}

/** Runs `work` over the items, so many at once, and keeps their order. Ends with the first that rejects. */
async function pooled<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      signal?.throwIfAborted();
      const index = next++;
      try {
        results[index] = await work(items[index]!);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}

function sorted(results: readonly AuditResult[]): AuditResult[] {
  return [...results].sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
}

const WORST_FIRST: readonly (Severity | undefined)[] = ['critical', 'high', 'medium', 'low'];

function report(url: URL, results: readonly AuditResult[], started: number): AuditReport {
  const findings = results
    .filter(({ passed }) => !passed)
    .sort((a, b) => WORST_FIRST.indexOf(a.severity) - WORST_FIRST.indexOf(b.severity));
  return {
    url: url.origin + url.pathname,
    passed: findings.length === 0,
    results,
    findings,
    durationMs: Math.round(performance.now() - started),
  };
}

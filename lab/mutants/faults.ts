/**
 * Faults that people make, each with its harm. `pnpm lab mutants` plants one after the other, and a
 * test must notice each.
 */
export interface PlantedFault {
  /** A path below `packages`. */
  readonly file: string;
  /** Code that stands in the file once. */
  readonly search: string;
  readonly replace: string;
  readonly harm: string;
}

type Row = readonly [search: string, replace: string, harm: string];

const PLANTED: Readonly<Record<string, readonly Row[]>> = {
  'core/src/verify.ts': [
    ["if (method !== 'POST')", "if (method === 'GET')", 'a PUT reaches the handler'],
    ['!(declared <= limits.bodyLimit)', 'declared > limits.bodyLimit', 'a length NaN is read'],
    ['if (secretIndex >= 0)', 'if (secretIndex >= -1)', 'every forged body is credited'],
    ['{ ...rest, rawBody: new Uint8Array(rawBody) }', '{ ...rest, rawBody }', 'bytes change later'],
    ['  refuseContradiction(event.type, event.payload);\n', '', 'a failed payment is credited'],
    ['(\\s*|identity)$/i', '(\\s*|identity|gzip)$/i', 'a gzip body fails as a wrong signature'],
  ],
  'core/src/receiver.ts': [
    ['if (rawBody.length > limits.bodyLimit)', 'if (false)', 'an adapter may exceed the limit'],
    ['requireBytes(await delivery.body(limits))', 'await delivery.body(limits)', 'text is proven'],
    ['report.proven = proving', 'const proven = proving', 'the log misses genuine failures'],
    ["settings.unrecognized !== 'pass'", 'settings.unrecognized', 'a refund passes the gate'],
    ['        keepEvent(holder, event);\n', '', 'code behind a gate gets no event'],
    [
      '    createRunner(handlers, settings.kinds, settings.handlerTimeout);\n',
      '',
      'a missing handler builds',
    ],
    [
      'if (isByMerchant && onError !== undefined)',
      'if (onError !== undefined)',
      'trackers get forgeries',
    ],
  ],
  'core/src/handlers.ts': [
    [
      "(type === 'unrecognized' ? undefined : (handlers as AnyHandler))",
      '(handlers as AnyHandler)',
      'a refund is credited as a payment',
    ],
    [
      'return (type) => map.get(type);',
      'return (type) => (handlers as Record<string, AnyHandler>)[type];',
      'inherited names are handlers',
    ],
    [
      "  check(map.has('payment.succeeded'), option, 'is missing: payments would be lost');\n",
      '',
      'payments are acknowledged and lost',
    ],
    ['    DeliveryContext.abort(context, error);\n', '', 'work goes on behind a 503'],
    ['milliseconds: handlerTimeout, reason', 'reason', 'a hanging handler holds its request'],
  ],
  'core/src/delivery-context.ts': [
    [
      '    return;\n',
      '    this.#controller = { signal: _ } as never;\n',
      'the signal of a host hides the time limit',
    ],
  ],
  'core/src/result.ts': [
    ['if (ok === false)', 'if (status === 500)', 'a 404 that a handler returned is a success'],
    ['status >= 400', 'status >= 500', '{ status: 404 } is a success'],
    [
      "kind === 'Generator' || kind === 'AsyncGenerator'",
      "kind === 'Generator'",
      'an async generator never runs',
    ],
  ],
  'core/src/event.ts': [
    [
      "if (status === 'pending') throw",
      "if (status === 'waiting') throw",
      'a pending payment is credited',
    ],
    ["if (reference.includes('\\0'))", 'if (false)', 'PostgreSQL throws for the reference'],
    [
      '  if (result.issues !== undefined)',
      '  if (result.issues?.length === 0)',
      'a payload that the schema refuses is handled',
    ],
    ["if (key === '__proto__') return undefined;", '', 'a body changes a prototype'],
    ['    milliseconds: SCHEMA_TIMEOUT,\n', '', 'a hanging schema holds its request'],
  ],
  'core/src/secret.ts': [
    ['secrets.length > 0 && secrets.length < 9', 'secrets.length < 9', 'an empty list starts'],
    [
      "check(bytes.length > 0, option, 'is empty: any sender could sign');",
      '',
      'any sender can sign',
    ],
    [
      'const bounds = { milliseconds: PROVIDER_TIMEOUT };',
      'const bounds = {};',
      'a hanging lookup holds its request',
    ],
    [
      'secret: isProduction() ? undefined : secret,',
      'secret,',
      'the secret stays in memory in production',
    ],
  ],
  'core/src/cached-secret.ts': [
    [
      'const name: unknown = key(context);',
      "const name: unknown = key(context) && 'one';",
      'merchants share a secret',
    ],
    ['  if (answers.size > LIMIT)', '  if (false)', 'the cache grows without a bound'],
    [
      '() => answers.get(name) === answer && answers.delete(name)',
      '() => undefined',
      'a failed lookup is kept',
    ],
    [
      'until: asked + Math.min(ttl, LOAD_TIMEOUT)',
      'until: Infinity',
      'a lookup that never ends blocks its merchant',
    ],
  ],
  'core/src/hmac.node.ts': [
    [
      'Number(crypto.timingSafeEqual(EXPECTED, RECEIVED))',
      'Number(EXPECTED.equals(RECEIVED))',
      'the time tells the signature',
    ],
    [
      '  let match = -1;',
      '  let match = keys.length > 1 ? 0 : -1;',
      'a rotation accepts everything',
    ],
  ],
  'core/src/hmac.web.ts': [
    [
      'index < DIGEST; index++',
      'index < DIGEST && difference === 0; index++',
      'the time tells the signature',
    ],
    [
      'this.#secret = new Uint8Array(secret)',
      'this.#secret = secret as never',
      'a changed buffer changes the key',
    ],
  ],
  'core/src/time-limit.ts': [
    [
      'Math.min(milliseconds ?? 0, LONGEST_TIMER)',
      'milliseconds ?? 0',
      'a long limit ends at once',
    ],
    ['      clearTimeout(timer);\n', '', 'timers keep the process alive'],
    [
      "signal.removeEventListener('abort', waits.#giveUp)",
      'void signal',
      'listeners pile up on a signal',
    ],
  ],
  'core/src/errors.ts': [
    [
      'isDelay(retryAfter) ? retryAfter : undefined',
      'retryAfter',
      'a reply has the header Retry-After: NaN',
    ],
    ['(status as number) > 399', '(status as number) > 199', 'an error acknowledges a payment'],
  ],
  'core/src/reporting.ts': [
    ['if (now < until)', 'if (now > until)', 'a flood fills the log'],
    [
      '      reference: event && cutReference(event.reference),\n',
      '      reference: event?.reference,\n',
      'a reference of 60 kB is logged',
    ],
  ],
  'fetch/src/read-body.ts': [
    ['isShort && request.signal?.aborted', 'false', 'half a body is reported as forged'],
    ['if (reader !== undefined) letGo(reader);', '', 'a refused upload stays open'],
    ['Reflect.set(request, READ, true);', '', 'two webhooks credit one request'],
  ],
  'node/src/read-body.ts': [
    ['  req[CLAIMED] = true;\n', '', 'two webhooks credit one request'],
    [
      'if (!isOver) timer = setTimeout',
      'if (isOver) timer = setTimeout',
      'a slow sender holds its request',
    ],
    [
      "if (!stream.readableEnded) pieces.fail('incomplete_body');",
      '',
      'a lost sender holds its request',
    ],
  ],
  'node/src/write-reply.ts': [
    [
      "written.connection = 'close'",
      'written.connection ??= undefined',
      'unread bytes begin the next request',
    ],
    ['if (!res.writableEnded) res.destroy();', '', 'a half reply hangs'],
  ],
  'express/src/index.ts': [
    [
      'if (reply !== undefined) return writeReply(req, res, reply);',
      '',
      'a forged request passes the gate',
    ],
  ],
  'koa/src/index.ts': [
    [
      '    ctx.respond = false;\n    return respond',
      '    return respond',
      'Koa answers 404 beside the webhook',
    ],
  ],
  'payments/src/settle-order.ts': [
    [
      "if (difference !== undefined) throw runError('amount_differs', difference);",
      '',
      'a payment of 1 F pays any order',
    ],
    ["if (status !== 'success')", "if (status === 'failed')", 'a pending payment is credited'],
    ['if (order.paid !== true) {', 'if (false) {', 'an order without money says paid'],
    [
      "if (order.paid === true) return decide({ outcome: 'paid' });",
      '',
      'a paid order asks the service',
    ],
    [
      'orders.find(reference, { tenant, signal })',
      'orders.find(reference, { tenant: null, signal })',
      'a merchant gets the order of another',
    ],
    ['hold.keepFor(crediting);', '', 'a hanging credit is started again'],
    [
      'if (!expected.closed) return decide(undefined);',
      'return decide(undefined);',
      'a cancelled order is credited',
    ],
  ],
  'payments/src/run.ts': [
    [
      'stopTimer(this.#timer);\n    return new Promise',
      'return new Promise',
      'a step ends under the limit of the last',
    ],
    ['this.#controller?.abort(this.#error);', '', 'queries go on behind a 503'],
    [
      'this.askBy = this.start + timeout / 2;',
      'this.askBy = this.start + timeout;',
      'an overload credits nobody',
    ],
  ],
  'client/src/request.ts': [
    ["redirect: 'manual',", "redirect: 'follow',", 'the API key follows a redirect'],
    [
      'return withoutKey(JSON.parse(decoder.decode(body)), apiKey);',
      'return JSON.parse(decoder.decode(body)) as unknown;',
      'a payment prints the API key',
    ],
    ['> REPLY_LIMIT) {', '> REPLY_LIMIT * 1e9) {', 'a reply fills the memory'],
  ],
  'emulator/src/deliveries/outbox.ts': [
    ['entry.failures++', '0', 'retries do not back off'],
    ['this.#entries.delete(ended[0]!.id)', 'void ended', 'deliveries pile up'],
  ],
};

export const FAULTS: readonly PlantedFault[] = Object.entries(PLANTED).flatMap(([file, rows]) =>
  rows.map(([search, replace, harm]) => ({ file, search, replace, harm })),
);

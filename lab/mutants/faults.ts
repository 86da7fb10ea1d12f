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
    ['    DeliveryContext.abortOf(context)!.abort(error);\n', '', 'work goes on behind a 503'],
    ['milliseconds: handlerTimeout, reason', 'reason', 'a hanging handler holds its request'],
  ],
  'core/src/delivery-context.ts': [
    [
      '    return;\n',
      "    Object.defineProperty(this.#abort, 'signal', { value: _ });\n",
      'the signal of a host hides the time limit',
    ],
  ],
  'core/src/lazy-abort.ts': [
    [
      '    this.#listeners?.forEach((listener) => listener());\n',
      '',
      'a notification that was answered 503 asks the service',
    ],
  ],
  'core/src/reply.ts': [
    [
      'Math.min(retryAfter ?? byCode, LONGEST_RETRY_AFTER)',
      '(retryAfter ?? byCode)',
      'a wait of years',
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
    [
      "kind !== 'payment.succeeded' || !Object.hasOwn(payload, 'status')",
      "kind !== 'payment.succeeded'",
      'a polluted prototype refuses each payment',
    ],
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
    ['return () => fixed;', 'return () => keysOf(option, null);', 'a changed list is read again'],
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
      "if (this.#waits.size === 0) this.#signal.removeEventListener('abort', this.#giveUp);",
      '',
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
    [
      "Object.hasOwn(fields, 'retryAfter') ? fields.retryAfter : undefined",
      'fields.retryAfter',
      'a polluted prototype sets Retry-After',
    ],
  ],
  'core/src/logger.ts': [
    ['isQuiet = now < until', 'isQuiet = now > until', 'a flood fills the log'],
    [
      'return logger[level](message, fields);',
      'return (0, logger[level])(message, fields);',
      'a logger that needs its object logs nothing',
    ],
  ],
  'core/src/reporting.ts': [
    [
      '      reference: event && cutReference(event.reference),\n',
      '      reference: event?.reference,\n',
      'a reference of 60 kB is logged',
    ],
  ],
  'core/src/options.ts': [
    ['bodyTimeout = 10_000', 'bodyTimeout = 100_000', 'a slow sender holds its request'],
  ],
  'fetch/src/read-body.ts': [
    ['isShort && request.signal?.aborted', 'false', 'half a body is reported as forged'],
    ['if (reader !== undefined) letGo(reader);', '', 'a refused upload stays open'],
    ['Reflect.set(request, READ, true);', '', 'two webhooks credit one request'],
    ['milliseconds: bodyTimeout, reason', 'reason', 'a slow sender holds its request'],
    ['collectBody(reader, bodyLimit)', 'collectBody(reader, 1e9)', 'an upload fills the memory'],
    [
      'error instanceof WebhookError ? error : incomplete(error)',
      'error',
      'a lost sender is reported as a fault of the handler',
    ],
    ['(bodyUsed === true || body?.locked === true)', 'bodyUsed === true', 'a 500 without a remedy'],
    ['new Uint8Array(await (kept ?? request.arrayBuffer()))', 'new Uint8Array()', 'Azure gets 401'],
  ],
  'fetch/src/let-go.ts': [
    [
      'if (done) clearTimeout(end);\n    else if',
      'if (done) return;\n    if',
      'a kept connection ends',
    ],
    ['else if (!isOver)', 'else if (true)', 'a refused upload is read for ever'],
    [
      'reader.cancel?.().catch(() => undefined)',
      'reader.cancel?.()',
      'a rejection ends the process',
    ],
    ['  (timer as { unref?: () => void }).unref?.();\n', '', 'a timer keeps the process alive'],
  ],
  'fetch/src/delivery.ts': [
    [
      "if (isUnread && typeof sent.getReader === 'function') letGo(sent.getReader());",
      'void letGo;',
      'a refused upload stays open',
    ],
    ['status === 401 || status === 408', 'status === 401', 'a slow sender keeps its connection'],
    ['readBody(request, limits, kept)', 'readBody(request, limits)', 'kept bytes are not found'],
  ],
  'fetch/src/payment-webhook.ts': [
    ['{ ...host, request }', '{ request, ...host }', 'a field of the host replaces the request'],
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
    [
      'void => pieces.add(piece);',
      'void => (timer?.refresh(), pieces.add(piece));',
      'each piece begins the time limit again',
    ],
    [
      "  if (stream.destroyed) throw new WebhookError('incomplete_body');\n",
      '',
      'a sender that left before holds its request',
    ],
    ['    clearTimeout(timer);\n', '', 'a timer keeps the process alive'],
    ['    isOver = true;\n', '', 'each body that came at once leaves a timer of 10 s'],
    ["off('readable', onReadable).off", 'off', 'a refused upload flows on'],
    ['while (stream.read() !== null);', 'stream.read();', 'Node 26 waits for the second piece'],
    ['  onReadable();\n  try', '  try', 'bytes that a `readable` listener left are not read'],
    ['  if (stream.isPaused()) stream.resume();\n', '', 'a paused request answers 408'],
    [
      "const kept = Buffer.isBuffer(rawBody) ? rawBody : reader && ownValue(req, 'body');",
      "const kept = Buffer.isBuffer(rawBody) ? rawBody : ownValue(req, 'body');",
      'a Buffer that is not the body is proven',
    ],
    [
      '!stream.readableDidRead && !stream.readableEnded',
      '!stream.readableEnded',
      'half a body is reported as forged',
    ],
    ['length: declared ?? null', 'length: null', 'half a body is reported as forged'],
    ['if (status === 413) throw', 'if (status === 400) throw', 'a 400 for a body over the limit'],
  ],
  'node/src/header.ts': [
    [
      'Object.getOwnPropertyDescriptor(object, name)?.value',
      '(object as Record<string, unknown>)[name]',
      'a getter parses unverified bytes',
    ],
    ['`${lines}, ${line}`', 'line', 'the last of two signatures counts'],
    ["typeof value === 'string' ? value : undefined", 'String(value)', 'a list is a signature'],
  ],
  'node/src/pieces.ts': [
    ['|| this.#length > this.#limit', '', 'a 413 waits for the end of the body'],
    ['Buffer.from(piece) :', "Buffer.from(piece, 'latin1') :", 'a stream of texts is forged'],
    ["if (!types.isUint8Array(bytes)) return this.fail('incomplete_body');", '', 'a crash'],
    ['this.#heldLength >= LEAST', 'this.#heldLength >= 1', 'single bytes fill the memory'],
  ],
  'node/src/payment-webhook.ts': [
    ['    req.res = own;\n', '', 'a logger in front finds another response'],
    ['    req.next = next;\n', '', 'code in front finds another `next`'],
    ['    req.res = STAND_IN;\n', '', 'a handler answers'],
    ['    req.next = ignore;\n', '', 'a handler calls the error handler of the host'],
    [
      '  await writeReply(req, res, reply);',
      '  void writeReply(req, res, reply);',
      'h3 answers 404',
    ],
  ],
  'node/src/body-copy.ts': [
    ['if (length <= limit) stream.push', 'stream.push', 'an upload fills the memory'],
    ['  if (req.isPaused()) req.resume();\n', '', 'a paused request answers 408'],
    ['req.readableEnded || stream.destroy()', 'undefined', 'a lost sender holds its request'],
    ["  req.on('readable', onReadable);\n", '', 'a pipe that stops costs the delivery'],
    ["if (event === 'data' || event === 'readable') copy();", 'copy();', 'each body is copied'],
    [
      'req.readableEncoding === null ? readOn(req, stream) : req',
      'readOn(req, stream)',
      'text is proven as bytes',
    ],
  ],
  'node/src/write-reply.ts': [
    [
      "written.connection = 'close'",
      'written.connection ??= undefined',
      'unread bytes begin the next request',
    ],
    ['if (!res.writableEnded) res.destroy();', '', 'a half reply hangs'],
    ['(isUnread || status === 401)', 'isUnread', 'a forger keeps its connection'],
    ["    if (isHttp1) res.statusMessage = '';\n", '', 'a text of other code costs the reply'],
    ["req.method === 'HEAD' ? '' : body", 'body', 'a HEAD closes the socket without a reply'],
    ['    req.resume();\n', '', 'a reset overtakes the reply'],
    ['signal, writable: false', 'writable: false', 'an upload without an end stays open'],
    [
      'if (isUnread && !isHttp1) resetAfterReply',
      'if (isHttp1) resetAfterReply',
      'a refused stream stays open',
    ],
    ['    if (res.headersSent) {', '    if (false) {', 'a second reply destroys the first'],
    ["'content-length': Buffer.byteLength(body), ", '', 'a reply has no length'],
  ],
  'express/src/index.ts': [
    [
      'if (reply !== undefined) return writeReply(req, res, reply);',
      '',
      'a forged request passes the gate',
    ],
    ['    next();\n', '    next();\n    next();\n', 'the route behind a gate runs twice'],
    ['    (req as { _body?: boolean })._body = true;\n', '', 'a parser behind the gate hangs'],
    ['{ req: req as Request }, req)', '{ req: req as Request }, res)', 'no event behind a gate'],
    ['{ req: req as Request }, BODY', '{ req: { ...req } as Request }, BODY', 'no parameters'],
    ['deliveryOf(req, BODY_CONSUMED_HINT)', 'deliveryOf(req)', 'the log of a gate has no remedy'],
  ],
  'koa/src/index.ts': [
    [
      '    ctx.respond = false;\n    passKept',
      '    passKept',
      'Koa answers 404 beside the webhook',
    ],
    ['      ctx.respond = false;\n', '', 'Koa answers 404 beside the gate'],
    ['    await next();\n', '    void next();\n', 'Koa answers before the route behind the gate'],
    ['if (Buffer.isBuffer(kept))', 'if (kept !== undefined)', 'a text lands on the request'],
    ['.disableBodyParser = true', '.disableBodyParser = false', 'a parser behind the gate fails'],
    ["    delete ctx.req.headers['content-length'];\n", '', 'koa-body behind the gate hangs'],
    ["    delete ctx.req.headers['transfer-encoding'];\n", '', 'koa-body behind the gate hangs'],
    ['state: ctx.state, params', 'state: ctx.state, params: {}', 'the secret of a tenant fails'],
    [
      '      return writeReply(ctx.req, ctx.res, reply);',
      '      return void writeReply(ctx.req, ctx.res, reply);',
      'a gate settles before its reply is written',
    ],
  ],
  'fastify/src/index.ts': [
    ["      payload.on('error', () => undefined);\n", '', 'garbage in gzip ends the process'],
    ['      reply.hijack();\n', '', 'a hook replaces the reply'],
    ['Math.min(by.bodyLimit, hostLimit)', 'by.bodyLimit', 'the limit of the app does not hold'],
    ['    instance.removeAllContentTypeParsers();\n', '', 'a parser takes the body'],
    ["      raw.headers['content-type'] = TYPE;\n", '', '415 for a type'],
    ['if (Buffer.isBuffer(rawBody))', 'if (rawBody)', 'a text lands on the request'],
    [
      "Object.getOwnPropertyDescriptor(request, 'rawBody')?.value",
      '(request as { rawBody?: unknown }).rawBody',
      'a getter parses unverified bytes',
    ],
    ['copyBody(raw, hostLimit)', 'copyBody(raw)', 'an upload fills the memory'],
    ['{ ...routeOptions, childLoggerFactory }', '{ childLoggerFactory }', 'no hook of the route'],
    ['      copyBody(raw, hostLimit);\n', '', 'a `data` listener in front takes the body'],
    [
      'createLogger.call(instance, ',
      'instance.childLoggerFactory(',
      'the logger of the route is lost',
    ],
    ['deliveryOf(raw, HINT)', 'deliveryOf(raw)', 'the log has no remedy'],
  ],
  'hono/src/index.ts': [
    ['{ ...c.env, outgoing: undefined }', 'c.env', 'a handler answers'],
    ['    return c.executionCtx', '    return undefined', 'work behind a reply is cut off'],
    ['hostOf(c), c)', 'hostOf(c), c.req)', 'no event behind a gate'],
  ],
  'hono/src/delivery.node.ts': [
    ['return isKept || isWhole ? left', 'return isKept || true ? left', 'no remedy in the log'],
    [
      'if (!isKept && (!isRead || c.req.raw.bodyUsed))',
      'if (!isKept)',
      'middleware that clones costs the delivery',
    ],
    ['closes: incoming.httpVersionMajor < 2', 'closes: true', 'HTTP/2 refuses the reply'],
    ['closes: incoming.httpVersionMajor < 2,', '', 'a forger keeps its connection'],
  ],
  'hono/src/delivery.web.ts': [
    ['env, kept && Promise.resolve(kept)', 'env', 'kept bytes are not found'],
  ],
  'nest/src/gate.ts': [
    ['return new Promise(() => undefined);', 'return false;', 'a filter answers too'],
    ['Object.assign(raw, { rawBody });', 'void raw;', 'kept bytes are not found'],
    ['if (Buffer.isBuffer(rawBody))', 'if (rawBody)', 'a text lands on the request'],
    ['if (reply === undefined) return true;', 'return true;', 'a forged request passes the guard'],
  ],
  'nest/src/module.ts': [
    ['Object.assign(raw, { params })', 'raw', 'the secret of a tenant fails'],
    ['check(isMade, ', 'check(true, ', 'a request-scoped provider costs the webhook'],
    ['(...injected))(), IN_TIME)', '(...injected))(), {} as never)', 'a start hangs'],
    ['`PaymentWebhook ${randomUUID()}`', "'PaymentWebhook'", 'merchants share a webhook'],
    ['  host.init$?.subscribe(onModuleInit);\n', '', 'a parser takes the body in tests'],
    ['if (!host.httpAdapter || isMounted)', 'if (!host.httpAdapter)', 'Fastify does not start'],
    ['reply.hijack().raw', 'reply.raw', 'Fastify replies twice'],
    ['      copyBody(call[3], fastify.initialConfig.bodyLimit);', '', 'a listener takes the body'],
    ['copyBody(call[3], fastify.initialConfig.bodyLimit)', 'copyBody(call[3])', 'memory is filled'],
    [
      "check(url?.at(0) === '/',",
      "check(typeof url === 'string',",
      'a path without a slash never matches',
    ],
  ],
  'next/src/index.ts': [
    ['{ ...context, request }', '{ request }', 'the secret of a tenant fails'],
    ["check(typeof headers?.get === 'function'", 'check(true', 'the wrong router has no remedy'],
  ],
  'next/src/pages.ts': [
    ['    await respond(', '    void respond(', 'a function is frozen before its reply'],
    ['{ req }, HINT)', '{ req })', 'the log has no remedy'],
  ],
  'lambda/src/index.ts': [
    ["'base64' : 'utf8'", "'base64' : 'latin1'", 'an accent is reported as forged'],
    ['Buffer.byteLength(text, encoding) > bodyLimit', 'text.length > bodyLimit', 'a wrong limit'],
    ['lists.length > 0 ? lists', '!headers ? lists', 'the last of two signatures counts'],
    ['{ __proto__: null, ...event }', '{ ...event }', 'a prototype is a header'],
    ["lines.join(', ')", 'lines.at(-1)', 'the last of two signatures counts'],
    ['key.toLowerCase() === name', 'key === name', 'a header in another case is missing'],
    ['if (event.headers || !event.multiValueHeaders)', 'if (true)', 'a 503 has no Retry-After'],
    ["if (typeof text !== 'string')", 'if (false)', 'a parsed body has no remedy in the log'],
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
      "if (order.paid === true) return { order, verdict: { outcome: 'paid' } };",
      '',
      'a paid order asks the service',
    ],
    [
      'orders.find(reference, run.createContext())',
      'orders.find(reference, Object.assign(run.createContext(), { tenant: null }))',
      'a merchant gets the order of another',
    ],
    ['hold.keepFor(crediting);', '', 'a hanging credit is started again'],
    [
      'if (!expected.closed) return undefined;',
      'return undefined;',
      'a cancelled order is credited',
    ],
    [
      'the order ${JSON.stringify(reference)}: ',
      'the order ${reference}: ',
      'a reference forges a log line',
    ],
  ],
  'payments/src/run.ts': [
    [
      '      this.#timer ??= this.#startClock();\n',
      '      stopTimer(this.#timer);\n' +
        '      this.#timer = startTimer(() => this.#finish(this.#late!()), this.end - this.start);\n',
      'each step begins the time limit again',
    ],
    [
      '  stop(): void {\n    stopTimer(this.#timer);\n',
      '  stop(): void {\n',
      'the signal of a paid run aborts later',
    ],
    ['      stopTimer(timer);\n', '', 'a question whose turn has come is cut off'],
    ['    this.#abort.abort(error);\n', '', 'queries go on behind a 503'],
    [
      'this.askBy = this.start + timeout / 2;',
      'this.askBy = this.start + timeout;',
      'an overload credits nobody',
    ],
    [
      '    if (!this.#isWanted) throw this.#finish(unwanted());\n',
      '',
      'a page that left still asks',
    ],
  ],
  'payments/src/asker.ts': [
    [
      '    let passed = 0;\n',
      '    let passed = (this.#turn = 0);\n',
      'pages starve the notifications',
    ],
    ['    if (this.#answers.size > MOST_ANSWERS) this.#answers.shift();\n', '', 'answers pile up'],
    ['      unref(this.#timer);\n', '', 'a pause keeps the process alive'],
    [
      'Math.min(LONGEST_REUSE, (now() - firstAt) / 4)',
      '(now() - firstAt) / 4',
      'a page shows pending long after the payment',
    ],
    ['    this.#refusedAlone = undefined;\n', '', 'the limit of an order pauses all orders'],
  ],
  'payments/src/answer.ts': [
    ['Object.freeze(payment) as', 'payment as unknown as', 'a page changes the answer of the next'],
    [
      "error?.code === 'confirm_unavailable' && ",
      'error !== undefined && ',
      'a 401 of another service ends the schedule',
    ],
  ],
  'payments/src/order-lock.ts': [
    [
      'this.#expiry = now() + LONGEST_CREDIT;',
      'this.#expiry = Infinity;',
      'a credit that never settles blocks its order for ever',
    ],
  ],
  'payments/src/options.ts': [
    [
      '    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);\n',
      '',
      'the reference of each logged order stays in memory',
    ],
    [
      '        if (made instanceof Promise) made.catch(() => undefined);\n',
      '',
      'a rejected client ends the process',
    ],
  ],
  'payments/src/reconcile.ts': [
    ['    begun = all.length;\n', '', 'an aborted schedule goes on with the next orders'],
    ['if (isListed) list.details.push(', 'list.details.push(', 'an outage fills the memory'],
    [
      'if (isKeyRefused(error)) refused401++;',
      'refused401 = isKeyRefused(error) ? refused401 + 1 : 0;',
      'a refused key does not end the schedule',
    ],
    [
      '    (async () => iterator?.return?.())().catch(() => undefined);\n',
      '',
      'the cursor of a database stays open',
    ],
    [
      '    for (const run of underWay.values()) run?.abandon();\n',
      '',
      'an aborted schedule keeps its questions in the line',
    ],
    [
      'orders[source]!({ tenant, signal: reading })',
      'orders[source]!({ tenant: null, signal: reading })',
      'the schedule reads the list of another merchant',
    ],
    [
      'found < 0 ? start!.index : found',
      'found < 0 ? 0 : found',
      'the last orders are never reached',
    ],
  ],
  'payments/src/payments.ts': [
    ['wait = 3_000 } = own', 'wait = settings.timeout } = own', 'a return page waits for 20 s'],
    ['    if (error instanceof Limited) return;\n', '', 'a pause logs a line for each order'],
    [
      "`${outcome} ${isOutage ? '' : key}`, LOGGED_FOR)",
      "`${outcome} ${isOutage ? '' : key}`)",
      'the second outage is not logged',
    ],
  ],
  'payments/src/order.ts': [
    [
      '`${tenant.length}:${tenant}${reference}`',
      '`${tenant}${reference}`',
      'two merchants share an order',
    ],
  ],
  'client/src/options.ts': [
    [
      'fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),',
      'fetch: fetch ?? globalThis.fetch,',
      'a fetch that a host or a test replaces later is not called',
    ],
    ['timeout = 10_000', 'timeout = 100_000', 'a try that hangs has no second one'],
  ],
  'client/src/request.ts': [
    ["redirect: 'manual',", "redirect: 'follow',", 'the API key follows a redirect'],
    [
      'withoutKey(JSON.parse(decoder.decode(body)), apiKey)',
      'JSON.parse(decoder.decode(body)) as unknown',
      'a payment prints the API key',
    ],
    ['> REPLY_LIMIT) {', '> REPLY_LIMIT * 1e9) {', 'a reply fills the memory'],
    [
      'response.body?.cancel().catch(() => undefined);',
      'void response.body?.cancel();',
      'a rejection ends the process',
    ],
  ],
  'client/src/failure.ts': [
    [
      'String(withoutKey(message, apiKey)).slice(0, 300)',
      'String(withoutKey(message.slice(0, 300), apiKey))',
      'half of the API key is logged',
    ],
  ],
  'cli/src/main.ts': [
    [
      "    process.off('exit', fail).on('exit', fail);\n",
      '    throw error;\n',
      'a full disk ends the schedule',
    ],
    [
      'process.exit(process.exitCode ?? EXIT.failed)',
      'process.exit(EXIT.ok)',
      'a broken pipe exits with 0',
    ],
  ],
  'cli/src/explain/command.ts': [
    [
      '    all.find(({ order }) => order !== null) ??',
      '    all.at(-1) ?? all.find(({ order }) => order !== null) ??',
      'the last merchant is blamed',
    ],
  ],
  'cli/src/sweep/command.ts': [
    [
      'if (stop.aborted) break;',
      "if (report.reason?.includes('API key') === true) break;",
      'one refused key ends the schedule of all merchants',
    ],
    [
      '        if (stop.aborted) break;\n',
      '',
      'a schedule that was ended reads the list of the next merchant',
    ],
  ],
  'cli/src/shop/with-shop.ts': [
    [
      '  output.hide(process.env[API_KEY_VARIABLE], process.env[SECRET_VARIABLE]);\n',
      '',
      'an error of the module prints the key',
    ],
  ],
  'cli/src/terminal/dotenv.ts': [
    [
      'process.env[name] ??= value',
      'process.env[name] = value',
      'a file replaces the key of the environment',
    ],
  ],
  'cli/src/terminal/output.ts': [
    ['this.redact(reply).trim()', 'reply.trim()', 'half of a secret is printed'],
    [
      '    this.#hidden.sort((a, b) => b.length - a.length);\n',
      '',
      'the rest of a longer secret is printed',
    ],
  ],
  'cli/src/sweep/run.ts': [
    ['known.cursor ?? options.cursor', 'known.cursor', 'a run that was ended loses its place'],
  ],
  'cli/src/torture/command.ts': [
    [
      'decodeURIComponent(password)',
      'decodeURI(password)',
      'a database’s refusal prints its password',
    ],
  ],
  'cli/src/doctor/test-orders.ts': [
    [
      '...(tenants === undefined ? {} : { tenants })',
      '',
      'credit may pay the order of another merchant',
    ],
  ],
  'cli/src/audit/command.ts': [
    [
      'return report.passed ? EXIT.ok : EXIT.failed;',
      'return EXIT.ok;',
      'a pipeline passes a receiver that accepts forgeries',
    ],
  ],
  'cli/src/audit/attempt.ts': [
    [
      "(category !== 'genuine' && status >= 400 && status < 500)",
      '(status >= 400 && status < 500)',
      'a refused genuine delivery passes',
    ],
  ],
  'cli/src/init/writing.ts': [
    [
      '    refuseLinks(realpathSync(folder), path, isSecret === true);\n',
      '',
      'init writes secrets through a link',
    ],
  ],
  'cli/src/init/plan.ts': [
    [
      'Object.entries(wanted).filter(([name]) => !env[name])',
      'Object.entries(wanted)',
      'a second run replaces the secret',
    ],
  ],
  'cli/src/receiver/post.ts': [
    ['      if (length >= BODY_READ) break;\n', '', 'a reply of any size is read'],
  ],
  'emulator/src/server/target.ts': [
    [
      'isAllowed ? undefined : lookupLoopback',
      'undefined',
      'a hosts file leads localhost elsewhere',
    ],
  ],
  'cli/src/pay/command.ts': [
    ["redirect: 'error'", "redirect: 'follow'", 'the API key follows a redirect'],
  ],
  'cli/src/audit/reply-probes.ts': [
    ['!isAcknowledged(answer) && !asksForRetry(answer)', 'false', 'refused duplicates pass'],
  ],
  'cli/templates/checkout.ts': [['    single_use: true,\n', '', 'a customer pays twice']],
  'emulator/src/contract/assumed.ts': [
    ['deliveryTimeout: 10_000', 'deliveryTimeout: 1_000', 'a slow shop gets each event again'],
  ],
  'emulator/src/pages/hosted/pay-page.tsx': [
    [
      'isPaid ? link.return_url : (link.cancel_url ?? link.return_url)',
      'link.return_url',
      'a customer who cancelled is thanked',
    ],
  ],
  'emulator/src/deliveries/post.ts': [
    [
      "    req.once('close', () => clearTimeout(timer));\n",
      '',
      'a delivery keeps the test process alive',
    ],
  ],
  'emulator/src/deliveries/waiting.ts': [
    ['        clearTimeout(timer);\n', '', 'a wait that ended keeps the test process alive'],
  ],
  'emulator/src/payments/ledger.ts': [
    [
      '    if (pages.size > PAGES_KEPT) pages.delete(pages.values().next().value!);\n',
      '',
      'the ids of paid pages pile up',
    ],
    [
      '    if (this.#byKey.get(oldest.key) === oldest) this.#byKey.delete(oldest.key);\n',
      '',
      'the key of a forgotten link answers with that link',
    ],
    [
      "links.find(({ status }) => status === 'success') ?? links.at(-1)",
      'links.at(-1)',
      'a second link hides the payment of an order',
    ],
  ],
  'emulator/src/deliveries/outbox.ts': [
    ['this.#start(held, held.times)', 'this.#start(held, 1)', 'a held duplicate is sent once'],
    [' || !isNewest', '', 'a delivery has two rows of retries at once'],
    ['entry.failures++', '0', 'retries do not back off'],
    [
      '    this.#held = undefined;\n    await ended;',
      '    await ended;',
      'a reset lets an old notification out',
    ],
    [
      '    cancelNext(entry);\n    const copies',
      '    const copies',
      'a retry runs beside the delivery that was sent again',
    ],
    ['this.#entries.delete(ended[0]!.id)', 'void ended', 'deliveries pile up'],
  ],
  'testing/src/orders/shop.ts': [
    ['      late,\n', '', 'a credit that hangs is not named'],
    ['    clearTimeout(timer);\n', '', 'each call keeps the test process alive for 10 s'],
  ],
  'testing/src/schedules/changes.ts': [
    ['        clearTimeout(timer);\n', '', 'each wait keeps the test process alive for 30 s'],
  ],
  'testing/src/schedules/process.ts': [
    [
      'isUnused, CLOSING);\n    this.proxy.close();',
      'isUnused, CLOSING);',
      'an open port keeps the test process alive',
    ],
  ],
  'testing/src/schedules/program.ts': [
    [
      'paid && this.isOver && !this.proxy.wasUsed',
      'false',
      'a program that passes by the proxy gets: no fault',
    ],
  ],
  'testing/src/schedules/explore.ts': [
    ['!subject.hasConnections && !isKill(cut)', 'isKill(cut)', 'no process is killed'],
    ['only === undefined ? 1 / 2 : 1', '1', 'many sequences leave no time for the cuts'],
  ],
  'testing/src/schedules/fault.ts': [
    [
      'Math.abs(credits - orders.length) < 1e-6',
      'credits > orders.length - 1e-6',
      'a balance that two orders move three times passes',
    ],
  ],
  'testing/src/wire.ts': [
    ['        clearTimeout(stop);\n', '', 'each piece keeps the test process alive for 5 s'],
  ],
};

export const FAULTS: readonly PlantedFault[] = Object.entries(PLANTED).flatMap(([file, rows]) =>
  rows.map(([search, replace, harm]) => ({ file, search, replace, harm })),
);

/**
 * The Functions host and its worker, played by a server: their tools are not on npm. What they load
 * is here by the name that they give it, `@azure/functions-core`; requests, their bodies as bytes,
 * and results go through the real library.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Module, { createRequire } from 'node:module';

let model;
let registered;
const core = {
  version: '4',
  setProgrammingModel: (given) => (model = given),
  registerFunction: (metadata, handler) => (registered = { metadata, handler }),
  registerHook: () => ({ dispose: () => undefined }),
  log: () => undefined,
};
const load = Module._load;
Module._load = (name, ...rest) => (name === '@azure/functions-core' ? core : load(name, ...rest));
createRequire(import.meta.url)('@azure/functions');
await import('./dist/functions.js');

const { metadata, handler } = registered;
const [[name, binding]] = Object.entries(metadata.bindings).filter(
  ([, { type }]) => type.toLowerCase() === 'httptrigger',
);

async function invoke(http) {
  const invocationId = randomUUID();
  const request = { invocationId, inputData: [{ name, data: { http } }], triggerMetadata: {} };
  const invocation = model.getInvocationModel({
    invocationId,
    metadata,
    request,
    log: () => undefined,
    state: undefined,
  });
  const { context, inputs } = await invocation.getArguments();
  const result = await invocation.invokeFunction(context, inputs, handler);
  return (await invocation.getResponse(context, result)).returnValue.http;
}

const host = createServer(async (req, res) => {
  const url = new URL(req.url, `http://${req.headers.host ?? '127.0.0.1'}`);
  if (url.pathname !== `/api/${binding.route}`) return res.writeHead(404).end();
  if (!binding.methods.some((method) => method.toUpperCase() === req.method))
    return res.writeHead(404).end();
  const pieces = [];
  try {
    for await (const piece of req) pieces.push(piece);
  } catch {
    return res.destroy();
  }
  const headers = Object.fromEntries(
    Object.entries(req.headersDistinct).map(([key, values]) => [key, values.join(', ')]),
  );
  try {
    const reply = await invoke({
      url: url.href,
      method: req.method,
      headers,
      body: { bytes: Buffer.concat(pieces) },
    });
    const { body } = reply;
    res.writeHead(Number(reply.statusCode), reply.headers).end(body?.bytes ?? body?.string);
  } catch {
    // As the Functions host answers for a function that failed.
    res.writeHead(500).end();
  }
});
host.listen(Number(process.env.PORT), '127.0.0.1');

/**
 * All built and attacked hosts. versions.ts has their versions, and `projects` a folder per host.
 */
import type { Exception, Host } from './host.js';

const BUN = 'node_modules/@oven/bun-linux-x64/bin/bun';
const DENO = 'node_modules/@deno/linux-x64-glibc/deno';

const STAYS_OPEN: Exception = {
  what: /^the end of the connection after a refusal/,
  why:
    'a Response cannot close its connection, and this host does not close it when the body is ' +
    'cancelled',
};

const BUNS_OWN_LIMIT: Exception = {
  what: /^a refusal before the body: a declared length over the limit$/,
  why:
    'if the declared length is over `maxRequestBodySize` (128 MB), Bun itself answers 413 ' +
    'with an empty body',
};

/** Hosts that treat a possible cross-site form as a forgery. */
const refusesForms = (host: string, lift: string): Exception => ({
  what: /^a delivery (without a Content-Type|under Content-Type: (text\/plain|application\/x-www-form-urlencoded|multipart\/form-data))$/,
  why:
    `before any route runs, ${host} answers 403 to a POST that a form on another site ` +
    `could have sent. ${lift} turns this off`,
});

/** Functions that a cloud calls with the whole body. */
const calledWithTheBody = (cloud: string, server: string): Exception => ({
  what: /^a declared length of 1 GB$|^a body that (stops|trickles)|^a refusal before|^a sender that stops/,
  why:
    `${cloud} calls the function only after it has received the whole body, so ${cloud} must ` +
    `reject large and slow bodies itself. The ${server} in this test has no limits`,
});

/** Google's framework parses the body, and keeps the bytes. */
const GOOGLE_READS_FIRST: readonly Exception[] = [
  {
    what: /^an endless body|^a declared length of 1 GB$|^a body that (stops|trickles)|^a refusal before|^a sender that stops/,
    why:
      'the framework reads the whole body, up to 1 GB, before it calls the function. ' +
      'Cloud Run, which runs in front of it, has its own limits',
  },
  {
    what: /^a delivery under (a charset|an unknown charset)|^a forged body that is not JSON$/,
    why:
      'the framework parses every body before it calls the function, and answers 400 or ' +
      '415 if it cannot. It keeps the raw bytes for Paylink',
  },
];

const VERCEL_DEV: readonly Exception[] = [
  calledWithTheBody('Vercel', '`vercel dev` server'),
  {
    what: /^a body in chunks of one byte$|^an endless body|^Expect: 100-continue$|^sends no stack trace$/,
    why:
      'before the function runs, the `vercel dev` server answers a chunked body and ' +
      '`Expect: 100-continue` with 500 and a stack trace. In production, Vercel uses a different ' +
      'HTTP server',
  },
];

export const hosts: readonly Host[] = [
  {
    id: 'hono',
    name: 'Hono on Node',
    version: 'hono',
    shows: 'src/server.ts',
    ours: ['@paylink/hono'],
    others: ['hono', '@hono/node-server'],
    build: ['tsc'],
    serve: () => 'node dist/server.js',
  },
  {
    id: 'express',
    name: 'Express',
    version: 'express',
    shows: 'src/server.ts',
    ours: ['@paylink/express'],
    others: ['express', '@types/express'],
    build: ['tsc'],
    serve: () => 'node dist/server.js',
  },
  {
    id: 'fastify',
    name: 'Fastify',
    version: 'fastify',
    shows: 'src/server.ts',
    ours: ['@paylink/fastify'],
    others: ['fastify'],
    build: ['tsc'],
    serve: () => 'node dist/server.js',
  },
  {
    id: 'koa',
    name: 'Koa',
    version: 'koa',
    shows: 'src/server.ts',
    ours: ['@paylink/koa'],
    others: ['koa', '@koa/router', '@types/koa'],
    build: ['tsc'],
    serve: () => 'node dist/server.js',
  },
  {
    id: 'hapi',
    name: 'hapi',
    version: '@hapi/hapi',
    shows: 'src/server.ts',
    ours: ['@paylink/node'],
    others: ['@hapi/hapi'],
    build: ['tsc'],
    serve: () => 'node dist/server.js',
  },
  {
    id: 'next',
    name: 'Next.js, App Router',
    version: 'next',
    shows: 'app/webhooks/payments/route.ts',
    orders: 'lib/orders.ts',
    ours: ['@paylink/next'],
    others: ['next', 'react', 'react-dom', '@types/react'],
    tsconfig: 'next',
    build: ['next build'],
    serve: (port) => `next start --hostname 127.0.0.1 --port ${port}`,
    exceptions: [STAYS_OPEN],
  },
  {
    id: 'next-pages',
    name: 'Next.js, Pages Router',
    version: 'next',
    shows: 'pages/api/webhooks/payments.ts',
    orders: 'lib/orders.ts',
    ours: ['@paylink/next'],
    others: ['next', 'react', 'react-dom', '@types/react'],
    tsconfig: 'next',
    build: ['next build'],
    serve: (port) => `next start --hostname 127.0.0.1 --port ${port}`,
    path: '/api/webhooks/payments',
  },
  {
    id: 'nest',
    name: 'NestJS',
    version: '@nestjs/core',
    shows: 'src/main.ts',
    ours: ['@paylink/nest'],
    others: [
      '@nestjs/common',
      '@nestjs/core',
      '@nestjs/platform-express',
      'reflect-metadata',
      'rxjs',
    ],
    build: ['tsc'],
    serve: () => 'node dist/main.js',
  },
  {
    id: 'nest-fastify',
    name: 'NestJS on Fastify',
    version: '@nestjs/core',
    shows: 'src/main.ts',
    ours: ['@paylink/nest'],
    others: [
      '@nestjs/common',
      '@nestjs/core',
      '@nestjs/platform-fastify',
      'fastify',
      'reflect-metadata',
      'rxjs',
    ],
    build: ['tsc'],
    serve: () => 'node dist/main.js',
  },
  {
    id: 'sveltekit',
    name: 'SvelteKit',
    version: '@sveltejs/kit',
    shows: 'src/routes/webhooks/payments/+server.ts',
    ours: ['@paylink/fetch'],
    others: [
      '@sveltejs/kit',
      '@sveltejs/adapter-node',
      '@sveltejs/vite-plugin-svelte',
      'svelte',
      'vite',
    ],
    build: ['svelte-kit sync', 'tsc --noEmit', 'vite build'],
    serve: () => 'node build',
    exceptions: [refusesForms('SvelteKit', "`csrf.trustedOrigins: ['*']`")],
  },
  {
    id: 'nuxt',
    name: 'Nuxt (Nitro)',
    version: 'nuxt',
    shows: 'server/routes/webhooks/payments.ts',
    orders: 'server/lib/orders.ts',
    ours: ['@paylink/fetch'],
    others: ['nuxt', 'vue', 'vue-tsc', 'h3'],
    build: ['nuxt prepare', 'vue-tsc --build --noEmit', 'nuxt build'],
    serve: () => 'node .output/server/index.mjs',
    note: 'Do not name the file `payments.post.ts`. Nuxt would then answer other methods with a page and a 200.',
    exceptions: [STAYS_OPEN],
  },
  {
    id: 'react-router',
    name: 'React Router',
    version: 'react-router',
    shows: 'app/routes/webhooks.payments.ts',
    orders: 'app/orders.ts',
    ours: ['@paylink/fetch'],
    others: [
      'react-router',
      '@react-router/dev',
      '@react-router/node',
      '@react-router/serve',
      'isbot',
      'react',
      'react-dom',
      'vite',
      '@types/react',
    ],
    build: ['react-router typegen', 'tsc', 'react-router build'],
    serve: () => 'react-router-serve build/server/index.js',
    exceptions: [
      {
        what: /^the reply to a forged signature, to the letter$/,
        why: 'React Router’s server adds a charset to the content type of the reply',
      },
    ],
  },
  {
    id: 'astro',
    name: 'Astro',
    version: 'astro',
    shows: 'src/pages/webhooks/payments.ts',
    ours: ['@paylink/fetch'],
    others: ['astro', '@astrojs/node'],
    build: ['astro sync', 'tsc --noEmit', 'astro build'],
    serve: () => 'node dist/server/entry.mjs',
    exceptions: [refusesForms('Astro', '`security.checkOrigin: false`'), STAYS_OPEN],
  },
  {
    id: 'tanstack',
    name: 'TanStack Start',
    version: '@tanstack/react-start',
    shows: 'src/routes/webhooks/payments.ts',
    ours: ['@paylink/fetch'],
    others: [
      '@tanstack/react-start',
      '@tanstack/react-router',
      '@vitejs/plugin-react',
      'react',
      'react-dom',
      'srvx',
      'vite',
      '@types/react',
    ],
    build: ['vite build', 'tsc'],
    serve: () =>
      'srvx serve --prod --static=../client --host=127.0.0.1 --entry=dist/server/server.js',
    note: 'Use `ANY` instead of `POST`. Otherwise TanStack answers other methods with a page and a 200.',
    exceptions: [STAYS_OPEN],
  },
  {
    id: 'elysia',
    name: 'Elysia on Bun',
    version: 'elysia',
    shows: 'src/server.ts',
    ours: ['@paylink/fetch'],
    others: ['elysia', '@types/bun', '@oven/bun-linux-x64'],
    tsconfig: 'bun',
    build: ['tsc', `${BUN} build src/server.ts --target=bun --outdir=dist`],
    serve: () => `${BUN} dist/server.js`,
    exceptions: [BUNS_OWN_LIMIT],
  },
  {
    id: 'bun',
    name: 'Bun',
    version: '@oven/bun-linux-x64',
    shows: 'src/server.ts',
    ours: ['@paylink/fetch'],
    others: ['@types/bun', '@oven/bun-linux-x64'],
    tsconfig: 'bun',
    build: ['tsc', `${BUN} build src/server.ts --target=bun --outdir=dist`],
    serve: () => `${BUN} dist/server.js`,
    exceptions: [BUNS_OWN_LIMIT],
  },
  {
    id: 'deno',
    name: 'Deno',
    version: '@deno/linux-x64-glibc',
    shows: 'src/server.ts',
    ours: ['@paylink/fetch'],
    others: ['@deno/linux-x64-glibc'],
    build: [`${DENO} check --node-modules-dir=manual --no-lock src/server.ts`],
    serve: () =>
      `${DENO} run --node-modules-dir=manual --no-lock --allow-net --allow-env ` +
      '--allow-read src/server.ts',
    note:
      'Use `Deno.serve`. With `node:http2`, a client that ends its session can abort a Deno 2.9.6 ' +
      'process, even without Paylink ([denoland/deno#36788](https://github.com/denoland/deno/issues/36788)).',
    exceptions: [STAYS_OPEN],
  },
  {
    id: 'supabase',
    name: 'Supabase Edge Functions',
    version: '@deno/linux-x64-glibc',
    shows: 'functions/payments/index.ts',
    note:
      'Supabase runs each function on Deno. Our test runs plain Deno, without Supabase’s Edge Runtime and gateway. ' +
      'Turn off `verify_jwt` for this function, because the service does not ' +
      'send your project’s JWT. [The quick start](start/supabase.md) adds the order table, the order page and ' +
      'the schedule.',
    orders: 'functions/orders.ts',
    ours: ['@paylink/fetch'],
    others: ['@deno/linux-x64-glibc'],
    build: [`${DENO} check --node-modules-dir=manual --no-lock functions/payments/index.ts`],
    serve: (port) =>
      `DENO_SERVE_ADDRESS=tcp:127.0.0.1:${port} ${DENO} run --node-modules-dir=manual --no-lock ` +
      '--allow-net --allow-env --allow-read functions/payments/index.ts',
    path: '/payments',
    exceptions: [STAYS_OPEN],
  },
  {
    id: 'nitro',
    name: 'Nitro 3 (H3 2)',
    version: 'nitro',
    shows: 'routes/webhooks/payments.ts',
    orders: 'lib/orders.ts',
    ours: ['@paylink/fetch'],
    others: ['nitro'],
    build: ['nitro build'],
    serve: () => 'node .output/server/index.mjs',
    exceptions: [STAYS_OPEN],
  },
  {
    id: 'vercel',
    name: 'Vercel Functions',
    version: '@vercel/node',
    shows: 'api/webhooks/payments.ts',
    orders: 'lib/orders.ts',
    ours: ['@paylink/fetch'],
    others: ['@vercel/node', '@vercel/build-utils'],
    copies: ['vercel.mjs'],
    tsconfig: 'vercel',
    build: ['tsc', 'node vercel.mjs'],
    builtWith: '@vercel/node',
    serve: () => 'node vercel.mjs serve',
    path: '/api/webhooks/payments',
    exceptions: [
      ...VERCEL_DEV,
      {
        what: /^QUERY$/,
        why: 'the `vercel dev` server never answers a request with an unknown method',
      },
    ],
  },
  {
    id: 'vercel-node',
    name: 'Vercel Functions, `(req, res)`',
    version: '@vercel/node',
    shows: 'api/webhooks/payments.ts',
    note:
      'Set the environment variable `NODEJS_HELPERS` to 0 in your project. Otherwise Vercel’s helpers read ' +
      'the body first. On the `vercel dev` server, which we tested, Paylink then answers 500 ' +
      '[`body_consumed`](errors.md#body_consumed). A function that takes a `Request` does not need this.',
    orders: 'lib/orders.ts',
    ours: ['@paylink/node'],
    others: ['@vercel/node', '@vercel/build-utils'],
    copies: ['vercel.mjs'],
    tsconfig: 'vercel',
    build: ['tsc', 'node vercel.mjs'],
    builtWith: '@vercel/node',
    serve: () => 'node vercel.mjs serve',
    env: { NODEJS_HELPERS: '0' },
    path: '/api/webhooks/payments',
    exceptions: VERCEL_DEV,
  },
  {
    id: 'netlify',
    name: 'Netlify Functions',
    version: '@netlify/functions',
    shows: 'netlify/functions/payments.mts',
    orders: 'lib/orders.ts',
    ours: ['@paylink/fetch'],
    others: ['@netlify/functions', '@netlify/zip-it-and-ship-it'],
    build: ['tsc', 'zip-it-and-ship-it netlify/functions dist --archive-format none'],
    serve: () => 'node gateway.mjs',
    exceptions: [
      calledWithTheBody('Netlify', 'gateway'),
      {
        what: /^(GET|HEAD)$/,
        why:
          'Netlify creates a `Request` before it calls the function. For a GET with a body, ' +
          'that throws',
      },
    ],
  },
  {
    id: 'adonis',
    name: 'AdonisJS 7',
    version: '@adonisjs/core',
    shows: 'app/middleware/payment_webhook_middleware.ts',
    note:
      'Register the middleware in `start/kernel.ts` with `server.use`. Server middleware runs before ' +
      'the router’s body parser, so it still receives the raw bytes.',
    orders: 'app/orders.ts',
    ours: ['@paylink/node'],
    others: ['@adonisjs/core', '@adonisjs/assembler', '@poppinss/ts-exec'],
    build: ['node ace.js build'],
    builtWith: 'node ace build',
    serve: () => 'node build/bin/server.js',
  },
  {
    id: 'strapi',
    name: 'Strapi 5',
    version: '@strapi/strapi',
    shows: 'src/middlewares/payments.ts',
    note:
      'Put `global::payments` above `strapi::body` in `config/middlewares.ts`. Our test replaces ' +
      'better-sqlite3 with libsql, which does not need a compiler.',
    ours: ['@paylink/koa'],
    others: ['@strapi/strapi', '@types/koa', 'better-sqlite3'],
    build: ['tsc'],
    serve: () => 'strapi start',
  },
  {
    id: 'workers',
    name: 'Cloudflare Workers',
    version: 'wrangler',
    shows: 'src/worker.ts',
    ours: ['@paylink/fetch'],
    others: ['wrangler', 'miniflare', '@cloudflare/workers-types'],
    build: ['tsc', 'wrangler deploy --dry-run --outdir dist'],
    serve: () => 'node serve.mjs',
    exceptions: [
      {
        what: /^spaces and tabs around the signature/,
        why:
          'workerd keeps a tab at the end of a header value. In production, Cloudflare’s own ' +
          'HTTP server comes first',
      },
      {
        what: /^two lengths that differ$|^a negative length$|^a length beside a chunked body$/,
        why:
          'under miniflare, workerd’s HTTP server answers malformed requests itself. In ' +
          'production, Cloudflare’s own HTTP server comes first',
      },
      {
        what: /^Expect: 100-continue$/,
        why:
          'workerd does not send an interim reply to `Expect: 100-continue`. In production, Cloudflare’s ' +
          'own HTTP server comes first',
      },
    ],
  },
  {
    id: 'next-workers',
    name: 'Next.js on Cloudflare Workers',
    version: '@opennextjs/cloudflare',
    shows: 'app/webhooks/payments/route.ts',
    orders: 'lib/orders.ts',
    ours: ['@paylink/next'],
    others: ['@opennextjs/cloudflare', 'wrangler', 'next', 'react', 'react-dom', '@types/react'],
    tsconfig: 'next',
    build: ['opennextjs-cloudflare build'],
    serve: (port) =>
      `wrangler dev --ip 127.0.0.1 --port ${port} --var ORDERS_URL:$ORDERS_URL --var ` +
      'WEBHOOK_SECRET:$WEBHOOK_SECRET --show-interactive-dev-session false',
    exceptions: [
      {
        what: /^a declared length of 1 GB$|^an endless body|^a body that (stops|trickles)|^a refusal before|^a sender that (stops|ends)/,
        why:
          'OpenNext reads the whole body before the route runs. In production, Cloudflare’s ' +
          'limits also apply',
      },
      {
        what: /^a length beside a chunked body$|^2,000 headers$|^sends no stack trace$/,
        why:
          'the HTTP server of `wrangler dev` answers malformed requests itself, and shows its ' +
          'stack if a request has 2,000 headers. In production, Cloudflare’s own HTTP server ' +
          'comes first',
      },
    ],
  },
  {
    id: 'lambda',
    name: 'AWS Lambda',
    version: 'node',
    shows: 'src/handler.ts',
    ours: ['@paylink/lambda'],
    others: [],
    copies: ['gateway.mjs'],
    build: ['tsc'],
    serve: () => 'node gateway.mjs',
    exceptions: [calledWithTheBody('AWS', 'gateway')],
  },
  {
    id: 'lambda-powertools',
    name: "AWS Lambda, Powertools' event handler",
    version: '@aws-lambda-powertools/event-handler',
    shows: 'src/handler.ts',
    note:
      'Pass `event` to the webhook, not `req`. Powertools decodes the body as text before it ' +
      'creates `req`, which changes ' +
      'bytes that are not UTF-8. A changed body could then pass as the signed one.',
    ours: ['@paylink/lambda'],
    others: ['@aws-lambda-powertools/event-handler', '@types/aws-lambda'],
    copies: ['gateway.mjs'],
    build: ['tsc'],
    serve: () => 'node gateway.mjs',
    exceptions: [
      calledWithTheBody('AWS', 'gateway'),
      {
        what: /^(GET|HEAD)$/,
        why:
          'Powertools creates a `Request` before it looks for a route. For a GET with a body, ' +
          'that throws',
      },
    ],
  },
  {
    id: 'express-lambda',
    name: 'Express on AWS Lambda (serverless-http)',
    version: 'serverless-http',
    shows: 'src/handler.ts',
    ours: ['@paylink/express'],
    others: ['express', '@types/express', 'serverless-http'],
    copies: ['gateway.mjs'],
    build: ['tsc'],
    serve: () => 'node gateway.mjs',
    exceptions: [calledWithTheBody('AWS', 'gateway')],
  },
  {
    id: 'azure',
    name: 'Azure Functions v4',
    version: '@azure/functions',
    shows: 'src/functions.ts',
    note:
      'Our test runs the real `@azure/functions`, but our own small server stands in for the ' +
      'Functions host of Azure’s Core Tools. That server passes the body to ' +
      '`@azure/functions` as bytes.',
    ours: ['@paylink/fetch'],
    others: ['@azure/functions'],
    build: ['tsc'],
    serve: () => 'node host.mjs',
    path: '/api/webhooks/payments',
    exceptions: [calledWithTheBody('Azure', 'server')],
  },
  {
    id: 'firebase',
    name: 'Firebase Functions',
    version: 'firebase-functions',
    shows: 'src/index.ts',
    ours: ['@paylink/express'],
    others: [
      'firebase-functions',
      'firebase-admin',
      '@google-cloud/functions-framework',
      '@types/express',
    ],
    build: ['tsc'],
    serve: (port) => `functions-framework --source=dist --target=payments --port=${port}`,
    path: '/',
    exceptions: GOOGLE_READS_FIRST,
  },
  {
    id: 'gcf',
    name: "Google's functions-framework",
    version: '@google-cloud/functions-framework',
    shows: 'src/index.ts',
    ours: ['@paylink/node'],
    others: ['@google-cloud/functions-framework', '@types/express'],
    build: ['tsc'],
    serve: (port) => `functions-framework --source=dist --target=payments --port=${port}`,
    path: '/',
    exceptions: GOOGLE_READS_FIRST,
  },
];

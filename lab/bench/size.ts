/**
 * Analyses core's minified and gzipped bundle: the share of sentences for errors and the log, and
 * the bytes of each file. `pnpm exec size-limit` checks the built packages' limits.
 */
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import ts from 'typescript';

const PACKAGES = join(import.meta.dirname, '../../packages');

interface Bundle {
  readonly title: string;
  readonly folder: string;
  readonly code: string;
  readonly conditions: readonly string[];
  readonly external: readonly string[];
}

// Same as in .size-limit.json and .size-limit.worker.js.
const BUNDLES: readonly Bundle[] = [
  {
    title: 'what verifies',
    folder: 'core/src',
    code: "export { createVerifier, verifySignature, sign, WebhookError, ConfigurationError, isWebhookError } from './index.ts'",
    conditions: ['node'],
    external: ['#hmac', '#diagnose'],
  },
  {
    title: "core's whole door",
    folder: 'core/src',
    code: "export * from './index.ts'",
    conditions: ['node'],
    external: ['#hmac', '#diagnose'],
  },
  {
    title: '@paylink/fetch in a Worker',
    folder: 'fetch/src',
    code: "export { paymentWebhook } from './index.ts'",
    conditions: ['workerd', 'worker', 'import'],
    external: ['#diagnose'],
  },
];

for (const bundle of BUNDLES) console.log(await describe(bundle));

async function describe({ title, folder, code, conditions, external }: Bundle): Promise<string> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: join(PACKAGES, folder), loader: 'ts' },
    conditions: ['@paylink/source', ...conditions],
    external: [...external],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    metafile: true,
    write: false,
  });
  const text = outputFiles[0]!.text;
  const files = Object.entries(Object.values(metafile.outputs)[0]!.inputs)
    .map(([path, { bytesInOutput }]) => ({ name: basename(path), bytesInOutput }))
    .filter(({ bytesInOutput }) => bytesInOutput > 0)
    .sort((a, b) => b.bytesInOutput - a.bytesInOutput)
    .map(({ name, bytesInOutput }) => `${name} ${bytesInOutput}`);
  return [
    `${title}: ${zipped(text)} B; without its sentences ${zipped(withoutSentences(text))} B`,
    `  of ${text.length} B unzipped: ${files.join(', ')}`,
    '',
  ].join('\n');
}

function zipped(text: string): number {
  return gzipSync(text, { level: 9 }).length;
}

/** Removes each text with a blank and more than ten characters. */
function withoutSentences(text: string): string {
  const file = ts.createSourceFile('bundle.js', text, ts.ScriptTarget.ES2022);
  let rest = '';
  let kept = 0;
  const visit = (node: ts.Node): void => {
    if (isText(node) && node.text.length > 10 && node.text.includes(' ')) {
      // Keeps the text's delimiters: its quotes, or the braces of a template.
      rest += text.slice(kept, node.getStart(file) + 1);
      kept = node.end - (ts.isTemplateHead(node) || ts.isTemplateMiddle(node) ? 2 : 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return rest + text.slice(kept);
}

function isText(node: ts.Node): node is ts.StringLiteral | ts.TemplateLiteralLikeNode {
  return ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node);
}

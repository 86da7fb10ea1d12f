/** Finds the address of the server in the project's files. */
import { readText } from './text.js';

const SOURCES = ['src/main', 'src/server', 'src/index', 'src/app', 'main', 'server', 'index', 'app']
  .flatMap((name) => ['ts', 'js', 'mjs', 'cjs'].map((ending) => `${name}.${ending}`))
  .concat(['ts', 'mjs', 'js'].map((ending) => `next.config.${ending}`));

/** A port that is no part of an address such as 127.0.0.1. */
const PORT = String.raw`[^;\n]*?(?<![\w.])(\d{2,5})(?![\w.])`;
const PORTS = [
  `--port[= ](\\d+)`,
  `\\snext dev\\b.* -p ?(\\d+)`,
  `\\blisten\\(${PORT}`,
  `\\bPORT\\b['"\\]]*\\)?\\s*(?:\\?\\?|\\|\\|)${PORT}`,
  `\\b(?:const|let|var) \\w*port\\b${PORT}`,
  `\\bport:${PORT}`,
].map((pattern) => new RegExp(pattern, 'i'));
const PREFIX = /\b(?:setGlobalPrefix\(|basePath\(|basePath:)\s*['"`]\/?([\w./-]+)/;
const COMMENTS = /\/\*[^]*?\*\/|(?<!:)\/\/.*$/gm;

/**
 * Returns the address of the server on this machine, with its global prefix.
 *
 * @param script the script of package.json that starts the server
 */
export function addressOf(folder: string, script: string, env: NodeJS.Dict<string>): URL {
  const code = SOURCES.map((path) => readText(folder, path)?.replace(COMMENTS, '') ?? '');
  const text = [` ${script}`, ...code].join('\n');
  const named = /\benv\W+PORT\b/.test(text) ? Number(env['PORT']) : 0;
  const found = PORTS.map((pattern) => Number(pattern.exec(text)?.[1]));
  const port = [named, ...found].find(Boolean) ?? 3000;
  const prefix = PREFIX.exec(text)?.[1] ?? '';
  return new URL(`http://localhost:${port}/${prefix}`);
}

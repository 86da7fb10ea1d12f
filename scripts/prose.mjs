/**
 * `pnpm prose [--all]`: textlint over the English documents, and over the comments and messages of
 * the packages. Exits with 1 if a group is over a budget, or if a sentence of a document breaks a
 * rule. `--all` also lists the sentences of sources, which only count towards the budgets.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import { parseSync } from 'oxc-parser';
import { ROOT } from './bootstrap.mjs';

/** Per 10,000 words. */
const BUDGETS = { what: 15, semicolons: 25 };

/** Neither English prose nor written by hand. */
const LEFT_OUT = /^(node_modules|dist|test|fr|reference|\..*)$/;

const RULES = [
  [/\b(whoever|whatever|whichever)\b/i, 'name the actor or the thing'],
  [/(^|[,;:.] |\b(and|or|but|of|to|from|with|is|that) )what\b/i, 'name the thing, not "what"'],
  [/(^|[;:.] |\b(and|or|but|of|to|from) )where\b/i, 'say "if", or name the place, not "where"'],
  [/\b(is|are|was|were) no\b(?! longer)/i, 'negate the verb, not the noun'],
  [/\b(order|row|log) (says|say|names)\b/, 'name who acts: an order is marked paid, a log shows'],
  [/\b(for ever|belongs? into|of (its|their) own)\b/, 'write "forever", "belongs in", "its own …"'],
  [/\b(let no|under way|at each call)\b/i, 'write "do not let", "in flight", "on each call"'],
  [/([;:](\s|$).*){2}/, 'use one colon or semicolon'],
  [/^([^\s·]+[ ·]+){30}\S/, 'use at most 30 words'],
];

const sentencesOf = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Returns the visible text. Each name in code counts as one word, and HTML ends a paragraph. */
function textOf({ type, value, children }) {
  if (type === 'Code') return 'Code';
  if (type === 'Html') return '\u2029';
  return children?.map(textOf).join('') ?? value ?? ' ';
}

/** A textlint rule that also adds up `counts`. */
const plainEnglish = (counts) => (context) => {
  const check = (node) => {
    for (const { segment } of sentencesOf.segment(textOf(node).replaceAll('\n', ' '))) {
      const sentence = segment.trim();
      // A file that the site includes.
      if (sentence.startsWith('<<<')) continue;
      counts.words += sentence.match(/[\p{L}\d][\p{L}\d'’.,-]*/gu)?.length ?? 0;
      counts.what += sentence.match(/\bwhat\b/gi)?.length ?? 0;
      counts.semicolons += sentence.match(/;/g)?.length ?? 0;
      const broken = RULES.filter(([rule]) => !sentence.endsWith('?') && rule.test(sentence));
      counts.findings += broken.length;
      for (const [, reason] of broken)
        context.report(node, new context.RuleError(`${reason}: ${sentence}`));
    }
  };
  return { Paragraph: check, Header: check, TableCell: check };
};

/** Returns the comments and messages of a source, each with its first line. */
function textsOf(source, filePath) {
  const parsed = parseSync(filePath, source);
  const lineAt = (offset) => source.slice(0, offset).split('\n').length;
  const comments = [];
  for (const { type, value, start, end } of parsed.comments) {
    const line = lineAt(start);
    const text = value.replace(/^[\s*]+/gm, '').replace(/^@(\w+)/gm, '\n`@$1`');
    const above = comments.at(-1);
    if (type === 'Line' && above?.end === line - 1) above.text += `\n${text}`;
    else comments.push({ line, text });
    comments.at(-1).end = type === 'Line' ? lineAt(end) : undefined;
  }
  const messages = [];
  const visit = (node) => {
    const text = node.value ?? node.quasis?.map(({ value }) => value.cooked).join('x');
    if (/^\S+( \S+){3}/.test(text) && !/[<>{]|^(SELECT|INSERT|UPDATE|DELETE|CREATE)/.test(text))
      messages.push({ line: lineAt(node.start), text: String(text) });
    for (const child of Object.values(node))
      [child].flat().forEach((each) => typeof each?.type === 'string' && visit(each));
  };
  parsed.program.body.forEach(visit);
  return { comments, messages };
}

/** Returns the files below a folder of the repository. @returns {string[]} */
const filesIn = (folder) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !LEFT_OUT.test(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesIn(path) : path;
    });

const kernel = new TextlintKernel();
const groups = {};

async function lint(group, path, text, firstLine = 1) {
  groups[group] ??= { words: 0, what: 0, semicolons: 0, findings: 0 };
  const { messages } = await kernel.lintText(text, {
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
    rules: [{ ruleId: 'plain-english', rule: plainEnglish(groups[group]) }],
  });
  const fails = path.endsWith('.md');
  if (fails && messages.length > 0) process.exitCode = 1;
  if (fails || process.argv.includes('--all'))
    for (const { line, message } of messages)
      console.log(`${path}:${line + firstLine - 1}: ${message}`);
}

const TOP = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'AGENTS.md'];
for (const path of [...TOP, ...filesIn('docs'), ...filesIn('lab'), ...filesIn('packages')]) {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const group = /^packages/.exec(path)?.[0] ?? 'docs';
  if (path.endsWith('.md')) await lint(group, path, text);
  else if (/^packages\/[\w-]+\/src\/.*\.tsx?$/.test(path))
    for (const [name, texts] of Object.entries(textsOf(text, path)))
      for (const each of texts) await lint(name, path, each.text, each.line);
}
console.table(groups);
for (const [group, counts] of Object.entries(groups))
  for (const [name, budget] of Object.entries(BUDGETS)) {
    const found = Math.round((counts[name] * 10_000) / counts.words);
    if (found <= budget) continue;
    console.log(`${group}: ${found} ${name} in 10,000 words, at most ${budget} are allowed`);
    process.exitCode = 1;
  }

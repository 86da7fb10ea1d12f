import { Command } from 'commander';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { EXIT, INTERRUPTED, usageFailure } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { diffLines } from './diff.js';
import { nextSteps } from './next-steps.js';
import { planOf, type PlannedFile } from './plan.js';
import { FRAMEWORKS, readProject } from './project.js';
import { refuseUnwritable, writeFiles } from './writing.js';
import type { Output } from '../terminal/output.js';
import { agreesTo } from '../terminal/question.js';
import { text } from '../terminal/safe-text.js';

interface Flags extends CommonFlags {
  readonly framework?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** `paylink init`: adds the webhook, the credit, their test and the emulator to a project. */
export function initCommand(): Command {
  const command = new Command('init')
    .summary('add the webhook, the credit, their test and the emulator to your project')
    .description(
      'Finds the framework and the database of the project in this folder. Writes the webhook, ' +
        'the credit on your database, the return page, a test, the lines that .env lacks, and a ' +
        'script that starts the emulator. Shows the changes and asks first. Installs nothing.',
    )
    .option(
      '--framework <name>',
      `next, ${FRAMEWORKS.join(', ')} (default: what package.json names)`,
    )
    .option('--dry-run', 'show the changes and write nothing')
    .option('--yes', 'write without asking, even over existing files');
  runs<Flags>(command, init);
  return teach(command, {
    examples: [
      ['paylink init --dry-run', 'shows the changes'],
      ['paylink init --framework fastify --yes', 'writes without asking'],
    ],
    environment: [
      [
        'WEBHOOK_SECRET, PAYLINK_API_KEY, PAYLINK_BASE_URL, SHOP_URL, DATABASE_URL',
        'written to .env if missing there, and never read',
      ],
    ],
    exitCodes: [
      [0, 'written, or nothing to do'],
      [1, 'the answer was no'],
      USAGE_EXIT,
      [INTERRUPTED, 'ended by Ctrl-C instead of an answer'],
    ],
  });
}

async function init({ flags, output }: Run<Flags>): Promise<number> {
  const project = readProject(process.cwd(), flags.framework);
  const { files, names } = planOf(project);
  refuseUnwritable(project.folder, files);
  const next = nextSteps(project, names);
  const language = project.isTypeScript ? 'TypeScript' : 'JavaScript';
  const { recipe } = project.database;
  output.line(text`${output.paint.bold(project.framework)}, ${language}, orders in ${recipe}`);
  output.line();
  for (const file of files) show(file, output);
  if (flags.dryRun !== true) {
    if (files.length > 0 && flags.yes !== true && !(await agrees(files))) return EXIT.failed;
    writeFiles(project.folder, files);
  }
  output.line(
    output.paint.bold(
      flags.dryRun === true
        ? 'Nothing was written. Then:'
        : files.length === 0
          ? 'Nothing to write. Then:'
          : 'Written. Then:',
    ),
  );
  for (const line of next.flatMap((each) => each.split('\n'))) output.line(text`  ${line}`);
  output.document({
    framework: project.framework,
    database: recipe,
    written: flags.dryRun !== true,
    files: files.map(({ path, overwrites }) => ({ path, overwrites })),
    next,
  });
  return EXIT.ok;
}

function show({ path, before, after, isSecret, overwrites }: PlannedFile, output: Output): void {
  const { paint } = output;
  const what = before === undefined ? 'new' : overwrites ? 'overwrites' : 'adds to';
  output.line(text`${overwrites ? paint.red(what) : paint.green(what)} ${paint.bold(path)}`);
  for (const { sign, line } of diffLines(before ?? '', after)) {
    // A secret that opens only the emulator must not appear on a shared screen either.
    const shown =
      isSecret === true ? line.replace(/^((?:WEBHOOK_SECRET|PAYLINK_API_KEY)=).*/, '$1…') : line;
    output.line(text`  ${sign === '+' ? paint.green(`+ ${shown}`) : paint.red(`- ${shown}`)}`);
  }
  output.line();
}

async function agrees(files: readonly PlannedFile[]): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw usageFailure(
      'nothing was written: paylink cannot ask without a terminal',
      '--yes writes, --dry-run only shows',
    );
  const lost = files.filter(({ overwrites }) => overwrites).map(({ path }) => path);
  return agreesTo(
    lost.length === 0 ? 'Write these files?' : `Write these files, over your ${lost.join(', ')}?`,
  );
}

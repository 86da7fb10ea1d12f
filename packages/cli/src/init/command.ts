import { Option, type Command } from 'commander';
import { createCommand, type CommonFlags, type Invocation } from '../terminal/command.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { parseUrl } from '../terminal/input.js';
import { text } from '../terminal/safe-text.js';
import { missingPackages, nextSteps } from './next-steps.js';
import { planOf } from './plan.js';
import { FRAMEWORKS, type Framework } from './hosts.js';
import { readProject } from './project.js';
import { refuseUnwritable, writeFiles } from './writing.js';

interface Flags extends CommonFlags {
  readonly framework?: Framework | 'next';
  readonly shopUrl?: URL;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** `paylink init`: adds the webhook, the credit, their test and the emulator to a project. */
export const initCommand = (): Command =>
  createCommand<Flags>('init', {
    summary: 'add the webhook, the credit, their test and the emulator to your project',
    description:
      'Detects the framework and the database of the project in the current folder. Writes the ' +
      'webhook, the credit for your database, the return page, a test, the lines missing from ' +
      '.env, and a script that starts the emulator. Prints the remaining steps. Does not install ' +
      'anything. In a folder without code, --framework also writes package.json and a server.',
    options: [
      new Option('--framework <name>', 'the framework (default: the one in package.json)').choices([
        'next',
        ...FRAMEWORKS,
      ]),
      new Option(
        '--shop-url <url>',
        "your server's address, with its global prefix (default: detected in your code)",
      ).argParser(parseUrl),
      new Option('--dry-run', 'list the files and write nothing'),
      new Option('--force', 'overwrite existing files that differ'),
    ],
    examples: ['paylink init --dry-run', 'paylink init --framework fastify'],
    run: init,
  });

async function init({ flags, output }: Invocation<Flags>): Promise<number> {
  const { paint } = output;
  const isDry = flags.dryRun === true;
  const project = await readProject(process.cwd(), flags.shopUrl, flags.framework);
  const { folder, framework } = project;
  const { recipe } = project.database;
  const { files, names } = planOf(project);
  refuseUnwritable(folder, files);
  const lost = files.filter(({ overwrites }) => overwrites === true).map(({ path }) => path);
  if (lost.length > 0 && !isDry && flags.force !== true)
    throw usageFailure(
      `nothing was written: ${lost.join(', ')} would be overwritten`,
      'move these files away, or add --force',
    );
  const next = nextSteps(project, names);
  if (!isDry) writeFiles(folder, files);
  const language = project.isTypeScript ? 'TypeScript' : 'JavaScript';
  output.line(text`${paint.bold(framework)}, ${language}, orders in ${recipe}`);
  output.line();
  await output.table(
    files.map(({ path, before, overwrites }) => [
      overwrites === true ? paint.red('overwrites') : before === undefined ? 'new' : 'adds to',
      path,
    ]),
  );
  output.line();
  const isDone = isDry
    ? 'Nothing was written.'
    : files.length === 0
      ? 'Nothing to write.'
      : 'Written.';
  output.line(paint.bold(`${isDone} Then:`));
  for (const line of next.flatMap((each) => each.split('\n'))) output.line(text`  ${line}`);
  output.document({
    ...{ framework, database: recipe, written: !isDry, next, packages: missingPackages(project) },
    files: files.map(({ path, overwrites = false }) => ({ path, overwrites })),
  });
  return EXIT.ok;
}

import { CommanderError } from 'commander';
import { EXIT } from './terminal/failure.js';
import { resolveLocalhostNames } from './receiver/localhost-names.js';
import { createProgram } from './program.js';

resolveLocalhostNames();

// `paylink audit | head` closes the pipe early.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? EXIT.failed);
  });
}

try {
  await createProgram().parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Commander has already printed the fault or the help.
  process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
}

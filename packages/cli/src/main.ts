import { EXIT } from './terminal/failure.js';
import { resolveLocalhostNames } from './receiver/localhost-names.js';
import { run } from './program.js';

resolveLocalhostNames();

const fail = (code: number): void => {
  if (code === 0) process.exitCode = EXIT.failed;
};
// `paylink audit | head` closes the pipe early.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.failed);
    // A full disk must not keep orders from being credited.
    process.off('exit', fail).on('exit', fail);
  });
}

await run(process.argv.slice(2));

import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';

/**
 * Reads a text file that people edit. Never waits: reading a pipe or a device could last forever.
 *
 * @throws Error with a sentence about the file, or with the system's code
 */
export function readTextFile(path: string): string {
  requireFile(path);
  const bytes = readFileSync(path);
  const isWide = /^(\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/.test(bytes.toString('latin1', 0, 2));
  if (isWide) throw new Error('it is UTF-16, as PowerShell writes it: save it as UTF-8');
  if (!isUtf8(bytes)) throw new Error('it is not UTF-8 text: save it as UTF-8');
  const text = bytes.toString('utf8');
  // Node and dotenv would take it for a part of the first name.
  if (text.startsWith('\ufeff'))
    throw new Error('it begins with a byte order mark: save it as UTF-8 without BOM');
  return text;
}

function requireFile(path: string): void {
  const stats = statSync(path);
  if (stats.isFile()) return;
  const kind = stats.isDirectory() ? 'a folder' : stats.isFIFO() ? 'a pipe' : 'a device';
  throw new Error(`it is ${kind}, and not a file`);
}

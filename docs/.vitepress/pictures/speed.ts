/** Two bars from the first line of the results in docs/performance.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCS } from '../pages.js';
import { text, type Picture } from './svg.js';

const ROW = /^\| (node:http) +\| (200 B) +\| (\d+) µs +\| (\d+) µs +\|/m;

export function speed(): Picture {
  const found = ROW.exec(readFileSync(join(DOCS, 'performance.md'), 'utf8'));
  if (found === null) throw new Error('docs/performance.md has no results for node:http, 200 B');
  const [, host, body, byHand, paylink] = found;
  const barOf = (name: string, time: string, y: number, tone: string): string[] => {
    const width = Math.round((Number(time) / Math.max(Number(byHand), Number(paylink))) * 240);
    return [
      text([76, y + 21], name, { anchor: 'end', bold: true }),
      `<rect x="86" y="${y}" width="${width}" height="32" rx="6" class="${tone}"/>`,
      text([94 + width, y + 21], `${time} µs`, { anchor: 'start' }),
    ];
  };
  return {
    size: [400, 116],
    title: 'CPU time of a request',
    parts: [
      text([8, 20], `CPU time of a request on ${host}, ${body}: less is better`, {
        tone: 'soft',
        anchor: 'start',
      }),
      ...barOf('by hand', byHand!, 34, 'plain'),
      ...barOf('Paylink', paylink!, 76, 'key'),
    ],
  };
}

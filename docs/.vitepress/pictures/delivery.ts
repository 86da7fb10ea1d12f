/** The way of a delivery through the receiver. */
import { arrow, box, line, text, type Picture } from './svg.js';

const STEPS = [
  { name: 'headers', checks: ['shape, size,', 'encoding'], refusals: '401 413 415' },
  { name: 'raw body', checks: ['once, under', 'limits'], refusals: '408 413' },
  { name: 'signature', checks: ['over the bytes,', 'constant time'], refusals: '401' },
  { name: 'event', checks: ['name, UTF-8,', 'JSON, reference'], refusals: '400' },
  { name: 'confirm', checks: ['the service', 'says: success'], refusals: '503' },
] as const;

/** The steps before this one see nothing of the body. */
const FIRST_KNOWN = 3;

export function delivery(): Picture {
  const [top, width, pitch] = [70, 118, 136];
  const steps = STEPS.flatMap(({ name, checks, refusals }, index) => {
    const x = 12 + index * pitch;
    return [
      box([x, top], [width, 76], [name, ...checks]),
      arrow(`${x + 59},146 ${x + 59},174`, 'bad'),
      text([x + 59, 192], refusals, { tone: 'bad', bold: true }),
      arrow(`${x + width},108 ${x + pitch - 1},108`),
    ];
  });
  const divide = 12 + FIRST_KNOWN * pitch - 9;
  return {
    size: [880, 240],
    title: 'The way of a notification',
    parts: [
      text([12, 28], 'A notification comes in', { bold: true, anchor: 'start' }),
      ...steps,
      box([692, 54], [176, 108], [], { tone: 'key' }),
      text([780, 78], 'your order’s row', { tone: 'key', bold: true }),
      box([702, 88], [156, 28], ['one write: credit'], { tone: 'key', open: true, radius: 6 }),
      box([702, 124], [156, 28], ['read again: paid'], {
        tone: 'key',
        open: true,
        radius: 6,
        dashed: true,
      }),
      arrow('780,162 780,188', 'good'),
      box([746, 190], [68, 28], ['200'], { tone: 'good', radius: 14 }),
      line(`${divide},44 ${divide},202`, true),
      text([divide - 8, 56], 'nothing is decoded or parsed', { tone: 'soft', anchor: 'end' }),
      text([divide + 8, 56], 'the sender is known', { tone: 'soft', anchor: 'start' }),
      text([12, 226], 'Refused: nothing is credited.', { tone: 'bad', anchor: 'start' }),
    ],
  };
}

/** The way of a delivery: in one row, and in one column for phones. */
import type { Locale } from '../pages.js';
import { arrow, box, line, text, type Picture } from './svg.js';

interface Step {
  readonly name: string;
  /** Two lines in the row, one in the column. */
  readonly checks: readonly [string, string];
  readonly refusals: string;
}

interface Words {
  readonly title: string;
  readonly start: string;
  readonly steps: readonly Step[];
  readonly unread: string;
  readonly known: string;
  readonly row: string;
  readonly write: string;
  readonly again: string;
  readonly refused: string;
}

const WORDS: Readonly<Record<Locale, Words>> = {
  en: {
    title: 'The way of a notification',
    start: 'A notification comes in',
    steps: [
      { name: 'headers', checks: ['shape, size,', 'encoding'], refusals: '401 413 415' },
      { name: 'raw body', checks: ['once, under', 'limits'], refusals: '408 413' },
      { name: 'signature', checks: ['over the bytes,', 'constant time'], refusals: '401' },
      { name: 'event', checks: ['name, UTF-8,', 'JSON, reference'], refusals: '400' },
      { name: 'confirm', checks: ['the service', 'says: success'], refusals: '503' },
    ],
    unread: 'nothing is decoded or parsed',
    known: 'the sender is known',
    row: 'your order’s row',
    write: 'one write: credit',
    again: 'read again: paid',
    refused: 'Refused: nothing is credited.',
  },
  fr: {
    title: 'Le chemin d’une notification',
    start: 'Une notification arrive',
    steps: [
      { name: 'en-têtes', checks: ['forme, taille,', 'encodage'], refusals: '401 413 415' },
      { name: 'corps brut', checks: ['lu une fois,', 'dans les limites'], refusals: '408 413' },
      { name: 'signature', checks: ['sur les octets,', 'temps constant'], refusals: '401' },
      { name: 'événement', checks: ['nom, UTF-8,', 'JSON, référence'], refusals: '400' },
      { name: 'confirmation', checks: ['le service dit :', 'success'], refusals: '503' },
    ],
    unread: 'rien n’est décodé ni analysé',
    known: 'l’expéditeur est connu',
    row: 'votre commande',
    write: 'une écriture : crédit',
    again: 'relue : payée',
    refused: 'Refus : rien n’est crédité.',
  },
};

/** The steps before this one see nothing of the body. */
const FIRST_KNOWN = 3;

export function delivery(locale: Locale): Picture {
  const words = WORDS[locale];
  const [top, width, pitch] = [70, 118, 136];
  const steps = words.steps.flatMap(({ name, checks, refusals }, index) => {
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
    title: words.title,
    parts: [
      text([12, 28], words.start, { bold: true, anchor: 'start' }),
      ...steps,
      ...orderRow(words, 692, 54),
      arrow('780,162 780,188', 'good'),
      box([746, 190], [68, 28], ['200'], { tone: 'good', radius: 14 }),
      line(`${divide},44 ${divide},202`, true),
      text([divide - 8, 56], words.unread, { tone: 'soft', anchor: 'end' }),
      text([divide + 8, 56], words.known, { tone: 'soft', anchor: 'start' }),
      text([12, 226], words.refused, { tone: 'bad', anchor: 'start' }),
    ],
  };
}

export function deliveryOnPhone(locale: Locale): Picture {
  const words = WORDS[locale];
  const topOf = (index: number): number => 32 + index * 56 + (index < FIRST_KNOWN ? 0 : 28);
  const steps = words.steps.flatMap(({ name, checks, refusals }, index) => {
    const y = topOf(index);
    return [
      box([8, y], [204, 44], [name, checks.join(' ')]),
      arrow(`212,${y + 22} 232,${y + 22}`, 'bad'),
      text([238, y + 27], refusals, { tone: 'bad', bold: true, anchor: 'start' }),
      arrow(`112,${y + 44} 112,${topOf(index + 1) - 1}`),
    ];
  });
  const end = topOf(words.steps.length);
  const divide = topOf(FIRST_KNOWN) - 22;
  return {
    size: [340, end + 150],
    title: words.title,
    parts: [
      text([8, 20], words.start, { bold: true, anchor: 'start' }),
      ...steps,
      line(`8,${divide} 332,${divide}`, true),
      text([332, divide - 6], words.unread, { tone: 'soft', anchor: 'end' }),
      text([332, divide + 15], words.known, { tone: 'soft', anchor: 'end' }),
      ...orderRow(words, 24, end),
      arrow(`200,${end + 54} 244,${end + 54}`, 'good'),
      box([246, end + 40], [60, 28], ['200'], { tone: 'good', radius: 14 }),
      text([8, end + 136], words.refused, { tone: 'bad', anchor: 'start' }),
    ],
  };
}

function orderRow({ row, write, again }: Words, x: number, y: number): string[] {
  return [
    box([x, y], [176, 108], [], { tone: 'key' }),
    text([x + 88, y + 24], row, { tone: 'key', bold: true }),
    box([x + 10, y + 34], [156, 28], [write], { tone: 'key', open: true, radius: 6 }),
    box([x + 10, y + 70], [156, 28], [again], { tone: 'key', open: true, radius: 6, dashed: true }),
  ];
}

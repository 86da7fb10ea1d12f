/** One payment between four actors, and what a lost, a late and a forged notification change. */
import type { Locale } from '../pages.js';
import { arrow, box, line, text, type Picture, type Tone } from './svg.js';

/** The actors' places from left to right. */
const CUSTOMER = 0;
const SHOP = 1;
const ROW = 2;
const SERVICE = 3;

interface Message {
  readonly from: number;
  readonly to: number;
  readonly tone?: Tone;
}

const MESSAGES: readonly Message[] = [
  { from: SHOP, to: ROW },
  { from: SHOP, to: SERVICE },
  { from: CUSTOMER, to: SERVICE },
  { from: SERVICE, to: SHOP, tone: 'key' },
  { from: SHOP, to: SERVICE },
  { from: SERVICE, to: SHOP },
  { from: SHOP, to: ROW, tone: 'key' },
  { from: SHOP, to: SERVICE, tone: 'good' },
];

const WORDS = {
  en: {
    title: 'How a payment reaches your order',
    actors: ['customer', 'your shop', 'order’s row', 'the service'],
    messages: [
      'stores the order',
      'creates the link',
      'pays',
      'notification, signed',
      'verified. Is it paid?',
      'yes: 15,000 XOF',
      'one write: paid',
      'read again: 200',
    ],
    cases: [
      ['lost', 'The return page or the schedule credits.'],
      ['late', 'Paid in the meantime: 200, no second credit.'],
      ['forged', 'Wrong signature: 401, and no handler runs.'],
    ],
  },
  fr: {
    title: 'Comment un paiement atteint votre commande',
    actors: ['client', 'boutique', 'commande', 'le service'],
    messages: [
      'crée la commande',
      'crée le lien',
      'paie',
      'notification signée',
      'vérifiée. Est-ce payé ?',
      'oui : 15 000 XOF',
      'écrit : payée',
      'relue : 200',
    ],
    cases: [
      ['perdue', 'La page de retour ou le rapprochement crédite.'],
      ['en retard', 'Payée entre-temps : 200, pas de second crédit.'],
      ['falsifiée', 'Signature fausse : 401, aucun handler exécuté.'],
    ],
  },
} as const;

const xOf = (actor: number): number => 46 + actor * 116;

export function howItWorks(locale: Locale): Picture {
  const words = WORDS[locale];
  const yOf = (index: number): number => 76 + index * 36;
  const bottom = yOf(MESSAGES.length) - 16;
  const messages = MESSAGES.flatMap(({ from, to, tone = 'plain' }, index) => {
    const [y, start, end] = [yOf(index), xOf(from), xOf(to)];
    const gap = Math.sign(end - start) * 2;
    return [
      arrow(`${start},${y} ${end - gap},${y}`, tone),
      text([(start + end) / 2, y - 6], words.messages[index]!, tone === 'plain' ? {} : { tone }),
    ];
  });
  const cases = words.cases.flatMap(([name, result], index) => {
    const y = bottom + 12 + index * 38;
    const tone = name === words.cases[2][0] ? 'bad' : 'plain';
    return [
      box([8, y], [76, 28], [name], { tone, radius: 14 }),
      text([94, y + 18], result, { anchor: 'start' }),
    ];
  });
  return {
    size: [440, bottom + 12 + words.cases.length * 38],
    title: words.title,
    parts: [
      ...words.actors.map((name, actor) =>
        box([xOf(actor) - 44, 8], [88, 32], [name], actor === ROW ? { tone: 'key' } : {}),
      ),
      ...words.actors.map((_name, actor) => line(`${xOf(actor)},40 ${xOf(actor)},${bottom}`, true)),
      ...messages,
      ...cases,
    ],
  };
}

/** Three ways into one credit, a crash at each step, and the states of a payment. */
import type { Locale } from '../pages.js';
import { arrow, box, line, text, type Picture, type Tone } from './svg.js';

export function threeWays(): Picture {
  const ways = [
    ['webhook', 'receive'],
    ['return page', 'settle'],
    ['schedule', 'reconcile'],
  ].flatMap((lines, index) => {
    const x = 8 + index * 132;
    return [box([x, 12], [120, 50], lines), arrow(`${x + 60},62 ${x + 60},88`)];
  });
  return {
    size: [400, 336],
    title: 'Three ways into one credit',
    parts: [
      ...ways,
      box(
        [8, 90],
        [384, 50],
        ['find, then ask the service', 'paid? the same amount? the same currency?'],
      ),
      arrow('200,140 200,164'),
      box(
        [8, 166],
        [384, 50],
        ['credit: one conditional write', '… SET paid_at = now() WHERE … AND paid_at IS NULL'],
        { tone: 'key' },
      ),
      arrow('104,216 104,248', 'good'),
      arrow('296,216 296,248'),
      text([112, 237], '1 row', { tone: 'good', anchor: 'start' }),
      text([304, 237], '0 rows', { tone: 'soft', anchor: 'start' }),
      box([8, 250], [192, 50], ['this call was first', 'the order is paid'], { tone: 'good' }),
      box([208, 250], [184, 50], ['another call was first', 'the order is paid already']),
      text([200, 324], 'Each way reads the order again, and trusts only its row.', {
        tone: 'soft',
      }),
    ],
  };
}

const CRASH = {
  en: {
    title: 'A crash after each step',
    columns: ['a delivery', 'true after a crash'],
    steps: [
      ['verify the signature', 'find the order', 'ask the service'],
      ['credit sends a write'],
      ['find the order again', 'reply 200'],
    ],
    truths: [
      ['nothing has changed', 'The next delivery', 'starts again.'],
      ['committed or not', 'find shows it.'],
      ['the order is paid', 'The next delivery', 'credits nothing: 200.'],
    ],
  },
  fr: {
    title: 'Un arrêt après chaque étape',
    columns: ['une notification', 'après un arrêt'],
    steps: [
      ['vérifier la signature', 'lire la commande', 'interroger le service'],
      ['credit écrit la ligne'],
      ['relire la commande', 'répondre 200'],
    ],
    truths: [
      ['rien n’a changé', 'La suivante', 'recommence.'],
      ['validée ou non', 'find le montre.'],
      ['commande payée', 'La suivante reçoit 200,', 'sans second crédit.'],
    ],
  },
} as const;

export function crash(locale: Locale): Picture {
  const words = CRASH[locale];
  const tones: readonly Tone[] = ['plain', 'key', 'good'];
  const parts: string[] = [];
  let y = 36;
  let number = 0;
  for (const [index, tone] of tones.entries()) {
    const top = y;
    for (const step of words.steps[index]!) {
      parts.push(box([8, y], [184, 36], [`${++number}. ${step}`], { tone }));
      if (number < 6) parts.push(arrow(`100,${y + 36} 100,${y + 51}`));
      y += 52;
    }
    const height = y - 16 - top;
    parts.push(
      line(`192,${top + height / 2} 212,${top + height / 2}`, true),
      box([214, top], [178, height], words.truths[index]!, { tone, dashed: true }),
    );
  }
  return {
    size: [400, y],
    title: words.title,
    parts: [
      text([100, 22], words.columns[0], { bold: true }),
      text([303, 22], words.columns[1], { bold: true }),
      ...parts,
    ],
  };
}

const STATES = {
  en: {
    title: 'The states of a payment, and the replies',
    columns: ['at the service', 'your reply', 'settle returns'],
    replies: ['503: not yet', '200: credited once', '503: not paid', '503: not paid'],
    note: 'A success after a failure: still one credit.',
  },
  fr: {
    title: 'Les états d’un paiement, et les réponses',
    columns: ['selon le service', 'votre réponse', 'settle renvoie'],
    replies: ['503 : pas encore', '200 : un seul crédit', '503 : pas payée', '503 : pas payée'],
    note: 'Un échec peut précéder un succès : toujours un seul crédit.',
  },
} as const;

export function states(locale: Locale): Picture {
  const words = STATES[locale];
  const [pending, success, failed, cancelled] = words.replies;
  const rows: readonly (readonly [string, Tone, string, string])[] = [
    ['pending', 'plain', pending, 'pending'],
    ['success', 'good', success, 'paid'],
    ['failed', 'bad', failed, 'failed'],
    ['cancelled', 'bad', cancelled, 'cancelled'],
  ];
  const topOf = (index: number): number => 40 + index * 56;
  const cells = rows.flatMap(([state, tone, reply, status], index) => {
    const y = topOf(index);
    return [
      box([52, y], [104, 36], [state], { tone }),
      text([190, y + 23], reply, { anchor: 'start' }),
      text([354, y + 23], status, { bold: true }),
    ];
  });
  return {
    size: [400, 284],
    title: words.title,
    parts: [
      text([104, 24], words.columns[0], { tone: 'soft' }),
      text([190, 24], words.columns[1], { tone: 'soft', anchor: 'start' }),
      text([354, 24], words.columns[2], { tone: 'soft' }),
      ...cells,
      arrow('104,76 104,94', 'good'),
      line('52,58 20,58 20,226'),
      arrow('20,170 50,170'),
      arrow('20,226 50,226'),
      arrow('156,170 172,170 172,114 158,114', 'good'),
      text([8, 272], words.note, {
        tone: 'soft',
        anchor: 'start',
      }),
    ],
  };
}

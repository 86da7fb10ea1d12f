/** The time line of a rotation, and the runbook as a decision tree. */
import type { Locale } from '../pages.js';
import { arrow, box, line, text, type Picture } from './svg.js';

const ROTATION = {
  en: {
    title: 'The time line of a rotation',
    accepts: 'your server accepts',
    signs: 'the service signs with',
    steps: ['1. deploy both', '2. change portal', '3. remove old'],
    old: 'old',
    both: 'new and old',
    new: 'new',
    never: 'No notification is refused.',
  },
  fr: {
    title: 'Le changement de secret dans le temps',
    accepts: 'votre serveur accepte',
    signs: 'le service signe avec',
    steps: ['1. déploiement', '2. portail', '3. retrait'],
    old: 'ancien',
    both: 'nouveau et ancien',
    new: 'nouveau',
    never: 'Aucune notification n’est refusée.',
  },
} as const;

export function rotation(locale: Locale): Picture {
  const words = ROTATION[locale];
  const [first, second, third] = [84, 200, 316];
  return {
    size: [400, 224],
    title: words.title,
    parts: [
      ...[first, second, third].flatMap((x, index) => [
        text([x, 20], words.steps[index]!, index === 1 ? { tone: 'key' } : {}),
        line(`${x},28 ${x},42`, true),
        line(`${x},58 ${x},112`, true),
        line(`${x},128 ${x},182`, true),
      ]),
      text([8, 54], words.accepts, { tone: 'soft', anchor: 'start' }),
      box([8, 62], [first - 10, 34], [words.old]),
      box([first + 2, 62], [third - first - 4, 34], [words.both], { tone: 'good' }),
      box([third + 2, 62], [400 - third - 10, 34], [words.new], { tone: 'good' }),
      text([8, 124], words.signs, { tone: 'soft', anchor: 'start' }),
      box([8, 132], [second - 10, 34], [words.old]),
      box([second + 2, 132], [400 - second - 10, 34], [words.new], { tone: 'good' }),
      arrow('8,188 392,188'),
      text([8, 212], words.never, { tone: 'soft', anchor: 'start' }),
    ],
  };
}

const RUNBOOK = {
  en: {
    title: 'Which section of the runbook helps?',
    arrive: 'Do notifications arrive?',
    no: 'no',
    yes: 'yes',
    nothing: 'Nothing arrives',
    status: 'Which status do you answer?',
    sections: [
      ['401', 'Every notification gets 401'],
      ['404 405', '404 or 405'],
      ['408 413 415', '413, 415, 408'],
      ['409', 'Paid, but not credited'],
      ['500', 'Every notification gets 500'],
      ['503', 'Many 503'],
      ['200, unpaid', 'who answered? A proxy?'],
    ],
  },
  fr: {
    title: 'Quelle section du dépannage lire ?',
    arrive: 'Une notification arrive ?',
    no: 'non',
    yes: 'oui',
    nothing: 'Rien n’arrive',
    status: 'Quel statut renvoyez-vous ?',
    sections: [
      ['401', 'Chaque notification reçoit un 401'],
      ['404 405', '404 ou 405'],
      ['408 413 415', '413, 415, 408'],
      ['409', 'Payé, mais pas crédité'],
      ['500', 'Chaque notification reçoit un 500'],
      ['503', 'Beaucoup de 503'],
      ['200, impayée', 'qui a répondu ? Le proxy ?'],
    ],
  },
} as const;

export function runbook(locale: Locale): Picture {
  const words = RUNBOOK[locale];
  const topOf = (index: number): number => 128 + index * 40;
  const sections = words.sections.flatMap(([status, section], index) => {
    const y = topOf(index);
    return [
      line(`20,${y + 15} 34,${y + 15}`),
      box([34, y], [108, 30], [status], { tone: status.startsWith('200') ? 'plain' : 'bad' }),
      arrow(`142,${y + 15} 162,${y + 15}`),
      text([170, y + 20], section, { anchor: 'start' }),
    ];
  });
  return {
    size: [400, topOf(words.sections.length) + 4],
    title: words.title,
    parts: [
      box([8, 8], [228, 36], [words.arrive], { tone: 'key' }),
      arrow('236,26 276,26'),
      text([254, 20], words.no, { tone: 'soft' }),
      text([284, 31], words.nothing, { anchor: 'start' }),
      arrow('116,44 116,68'),
      text([124, 61], words.yes, { tone: 'soft', anchor: 'start' }),
      box([8, 70], [228, 36], [words.status], { tone: 'key' }),
      line(`20,106 20,${topOf(words.sections.length - 1) + 15}`),
      ...sections,
    ],
  };
}

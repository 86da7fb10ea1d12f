import { describeFault, type Fault } from '../../faults/faults.js';
import type { PaymentStatus } from '../../payments/payment.js';
import type { Language } from '../language.js';

export interface FaultText {
  readonly title: string;
  readonly sends: string;
  readonly expected: string;
}

/** The dashboard's texts for faults. The expected answers are for a paid payment. */
export const FAULT_TEXTS: Readonly<Record<Language, Readonly<Record<Fault, FaultText>>>> = {
  en: {
    duplicate: {
      title: 'Ten at once',
      sends: 'The genuine notification, ten times at the same moment.',
      expected: '200 or 503 each, one credit.',
    },
    repeated: {
      title: 'Twice',
      sends: 'The genuine notification, then the same again after the answer.',
      expected: '200 both times, one credit.',
    },
    late: {
      title: 'Late',
      sends: 'The genuine notification, after five seconds.',
      expected: '200, one credit.',
    },
    reordered: {
      title: 'Out of order',
      sends: 'The success, then an earlier event of another kind.',
      expected: '200 both times, the order stays paid.',
    },
    tampered: {
      title: 'Tampered',
      sends: 'The genuine signature over a body with one letter changed.',
      expected: '401, no credit.',
    },
    wrong_secret: {
      title: 'Wrong secret',
      sends: 'The genuine body, signed with another secret.',
      expected: '401, no credit.',
    },
    unsigned: {
      title: 'Unsigned',
      sends: 'The genuine body without a signature.',
      expected: '401, no credit.',
    },
    relabelled: {
      title: 'Relabelled',
      sends:
        'The signed body of the payment in its present status, under the event payment.succeeded.',
      expected: '200, no second credit.',
    },
    unknown_event: {
      title: 'Unknown event',
      sends: 'The genuine body and signature under an event of another kind.',
      expected: '200, no credit.',
    },
    re_serialised: {
      title: 'Re-serialised',
      sends: 'The genuine signature over the same JSON in other bytes.',
      expected: '401, no credit.',
    },
    gzip: {
      title: 'Compressed',
      sends: 'The genuine body as gzip, with the signature of the uncompressed bytes.',
      expected: '415, no credit.',
    },
    two_signatures: {
      title: 'Two signatures',
      sends: 'Two signature lines: the genuine one and a forged one.',
      expected: '401, no credit.',
    },
    bom: {
      title: 'Byte order mark',
      sends: 'A byte order mark before the JSON, covered by the signature.',
      expected: '400, no credit.',
    },
    slow: {
      title: 'Slow',
      sends: 'The genuine notification, one byte a second.',
      expected: '408, or 200 after the last byte.',
    },
    aborted: {
      title: 'Broken off',
      sends: 'Half of the body, then the connection is reset.',
      expected: 'No answer, or 400, no credit.',
    },
  },
  fr: {
    duplicate: {
      title: 'Dix à la fois',
      sends: 'La vraie notification, dix fois au même moment.',
      expected: '200 ou 503 à chaque fois, un seul crédit.',
    },
    repeated: {
      title: 'Deux fois',
      sends: 'La vraie notification, puis encore une fois après la réponse.',
      expected: '200 les deux fois, un seul crédit.',
    },
    late: {
      title: 'En retard',
      sends: 'La vraie notification, dans cinq secondes.',
      expected: '200, un seul crédit.',
    },
    reordered: {
      title: 'Dans le désordre',
      sends: 'D’abord le succès, puis un événement antérieur d’un autre genre.',
      expected: '200 les deux fois, la commande reste payée.',
    },
    tampered: {
      title: 'Falsifiée',
      sends: 'La vraie signature sur un corps dont une lettre a changé.',
      expected: '401, aucun crédit.',
    },
    wrong_secret: {
      title: 'Mauvais secret',
      sends: 'Le vrai corps, signé avec un autre secret.',
      expected: '401, aucun crédit.',
    },
    unsigned: {
      title: 'Sans signature',
      sends: 'Le vrai corps, sans signature.',
      expected: '401, aucun crédit.',
    },
    relabelled: {
      title: 'Réétiquetée',
      sends: 'Le corps signé du paiement dans son état actuel, sous l’événement payment.succeeded.',
      expected: '200, pas de second crédit.',
    },
    unknown_event: {
      title: 'Événement inconnu',
      sends: 'Le vrai corps et sa signature sous un événement d’un autre genre.',
      expected: '200, aucun crédit.',
    },
    re_serialised: {
      title: 'Resérialisée',
      sends: 'La vraie signature sur le même JSON en d’autres octets.',
      expected: '401, aucun crédit.',
    },
    gzip: {
      title: 'Compressée',
      sends: 'Le vrai corps en gzip, avec la signature des octets d’avant.',
      expected: '415, aucun crédit.',
    },
    two_signatures: {
      title: 'Deux signatures',
      sends: 'Deux lignes de signature : la vraie et une fausse.',
      expected: '401, aucun crédit.',
    },
    bom: {
      title: 'Marque d’ordre des octets',
      sends: 'Une marque d’ordre des octets devant le JSON, signée avec lui.',
      expected: '400, aucun crédit.',
    },
    slow: {
      title: 'Lente',
      sends: 'La vraie notification, un octet par seconde.',
      expected: '408, ou 200 après le dernier octet.',
    },
    aborted: {
      title: 'Interrompue',
      sends: 'La moitié du corps, puis la connexion est coupée.',
      expected: 'Aucune réponse, ou 400, aucun crédit.',
    },
  },
};

const UNPAID: Readonly<Record<Language, string>> = {
  en: 'Not paid: 503 or 200. No credit if your server asks the API.',
  fr: 'Pas payé : 503 ou 200. Aucun crédit si votre serveur interroge l’API.',
};

/** Returns the expected answers to a fault for a payment status. */
export function expectedText(fault: Fault, status: PaymentStatus, language: Language): string {
  const isGenuine = describeFault(fault).isGenuine === true;
  return isGenuine && status !== 'success'
    ? UNPAID[language]
    : FAULT_TEXTS[language][fault].expected;
}

import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import type { Disturbance } from '../../deliveries/disturbances.js';
import type { Language } from '../language.js';
import type { PaymentStatus } from '../../payments/payment.js';
import type { HappeningKind } from './timeline.js';

export interface DashboardTexts {
  readonly name: string;
  readonly testOnly: string;
  readonly live: string;
  readonly waiting: string;
  readonly api: string;
  readonly payPages: string;
  readonly webhook: string;
  readonly noWebhook: string;
  readonly secretsHint: string;
  readonly overview: string;
  readonly payments: string;
  readonly deliveries: string;
  readonly owed: string;
  readonly noPayments: string;
  readonly noDeliveries: string;
  readonly status: Readonly<Record<PaymentStatus, string>>;
  readonly state: Readonly<Record<EmulatorDelivery['state'], string>>;
  readonly disturbed: Readonly<Record<Disturbance['kind'], string>>;
  readonly create: string;
  readonly kind: string;
  readonly fixed: string;
  readonly free: string;
  readonly fields: Readonly<Record<LinkField, string>>;
  readonly hints: Readonly<Record<LinkField, string>>;
  readonly optional: string;
  readonly createButton: string;
  readonly wrongForm: string;
  readonly filterName: string;
  readonly contains: string;
  readonly statusLabel: string;
  readonly anyStatus: string;
  readonly filter: string;
  readonly newer: string;
  readonly older: string;
  readonly pageOf: (page: number, pages: number) => string;
  readonly back: string;
  readonly payment: string;
  readonly amount: string;
  readonly between: (min: string, max: string) => string;
  readonly createdAt: string;
  readonly singleUse: string;
  readonly yes: string;
  readonly no: string;
  readonly openPage: string;
  readonly actions: string;
  readonly pay: string;
  readonly paySilently: string;
  readonly fail: string;
  readonly cancel: string;
  readonly amountToPay: string;
  readonly amountWrong: (min: string, max: string) => string;
  readonly noActions: string;
  readonly faults: string;
  readonly faultsHint: string;
  readonly send: string;
  readonly expected: string;
  readonly verdict: Readonly<Record<NonNullable<EmulatorDelivery['verdict']>, string>>;
  readonly judgedAs: (status: string) => string;
  readonly runAll: string;
  readonly timeline: string;
  readonly timelineHint: string;
  readonly filterTimeline: string;
  readonly happeningLabel: string;
  readonly happening: Readonly<Record<HappeningKind, string>>;
  readonly nothingHappened: string;
  readonly sendTo: string;
  readonly wrongTarget: string;
  readonly asCurl: string;
  readonly copy: string;
  readonly copied: string;
  readonly unanswered: string;
  readonly notAcknowledged: string;
  readonly delivery: string;
  readonly event: string;
  readonly reference: string;
  readonly address: string;
  readonly attempts: string;
  readonly attempt: string;
  readonly attemptCount: (count: number) => string;
  readonly newestOnly: (count: number) => string;
  readonly nextAttempt: string;
  readonly notSentYet: string;
  readonly neverSent: string;
  readonly fault: string;
  readonly resend: string;
  readonly request: string;
  readonly reply: string;
  readonly noReply: string;
  readonly cutOff: string;
  readonly bytesInHex: (count: number) => string;
  readonly notFound: string;
  readonly notFoundHint: string;
  readonly refused: string;
  readonly refusedHint: string;
}

/** The fields of a payment link (docs/service.md 2.1). */
export type LinkField =
  | 'amount'
  | 'amount_min'
  | 'amount_max'
  | 'reference'
  | 'description'
  | 'return_url'
  | 'cancel_url'
  | 'single_use';

export const DASHBOARD_TEXTS: Readonly<Record<Language, DashboardTexts>> = {
  en: {
    name: 'Payment Link Service emulator',
    testOnly: 'Test environment: no real money',
    live: 'Live',
    waiting: 'Reconnecting…',
    api: 'API',
    payPages: 'Payment pages',
    webhook: 'Notifications go to',
    noWebhook: 'nowhere: start the emulator with webhook.url',
    secretsHint:
      'The dashboard does not show the API key and the webhook secret. The emulator printed them at startup.',
    overview: 'Overview',
    payments: 'Payments',
    deliveries: 'Deliveries',
    owed: 'Deliveries due',
    noPayments: 'No payments here.',
    noDeliveries: 'No notifications here.',
    status: { pending: 'Pending', success: 'Paid', failed: 'Failed', cancelled: 'Cancelled' },
    state: {
      pending: 'On its way',
      delivered: 'Delivered',
      dropped: 'Dropped',
      sent: 'Sent with a fault',
    },
    disturbed: { drop: 'dropped', delay: 'delayed', reorder: 'kept back' },
    create: 'Create a payment link',
    kind: 'Kind of amount',
    fixed: 'Fixed amount',
    free: 'Customer chooses',
    fields: {
      amount: 'Amount',
      amount_min: 'Lowest amount',
      amount_max: 'Highest amount',
      reference: 'Reference',
      description: 'Description',
      return_url: 'Return URL',
      cancel_url: 'Cancel URL',
      single_use: 'Single use',
    },
    hints: {
      amount: 'A whole number of CFA francs, 1 or more.',
      amount_min: 'A whole number of CFA francs, 1 or more.',
      amount_max: 'A whole number, not below the lowest amount.',
      reference: 'Your order’s reference, which no other link uses.',
      description: 'The goods or the service. Required if the customer chooses the amount.',
      return_url: 'The customer goes there after paying: http or https.',
      cancel_url: 'The customer goes there after cancelling: http or https.',
      single_use: 'Can be paid once.',
    },
    optional: 'optional',
    createButton: 'Create link',
    wrongForm: 'The link was not created. Correct the marked field.',
    filterName: 'Filter payments',
    contains: 'Reference contains',
    statusLabel: 'Status',
    anyStatus: 'Any',
    filter: 'Filter',
    newer: 'Newer payments',
    older: 'Older payments',
    pageOf: (page, pages) => `Page ${page} of ${pages}`,
    back: 'All payments',
    payment: 'Payment',
    amount: 'Amount',
    between: (min, max) => `${min} to ${max}, chosen by the customer`,
    createdAt: 'Created',
    singleUse: 'Single use',
    yes: 'Yes',
    no: 'No',
    openPage: 'Open the payment page',
    actions: 'Next steps',
    pay: 'Pay',
    paySilently: 'Pay without notification',
    fail: 'Let it fail',
    cancel: 'Cancel it',
    amountToPay: 'Amount to pay (CFA francs)',
    amountWrong: (min, max) => `Enter a whole amount from ${min} to ${max}.`,
    noActions: 'This payment is closed.',
    faults: 'Send a faulty notification',
    faultsHint:
      'The emulator sends each fault at once and changes no payment. The expected answer depends on the payment’s status. Only your shop knows whether it credited the order.',
    send: 'Send',
    expected: 'Expected:',
    verdict: {
      expected: 'As expected',
      tolerated: 'Accepted, but a stricter answer is safer',
      unexpected: 'Not as expected',
    },
    judgedAs: (status) => `For a payment with the status: ${status}.`,
    runAll: 'Run all faults',
    timeline: 'Timeline',
    timelineHint: 'Requests to the API, payments and notifications, newest first.',
    filterTimeline: 'Filter the timeline',
    happeningLabel: 'Kind',
    happening: { request: 'API request', payment: 'Payment', delivery: 'Notification' },
    nothingHappened: 'Nothing here yet.',
    sendTo: 'Send to',
    wrongTarget: 'Enter an http or https address on this machine or on an allowed host.',
    asCurl: 'As a curl command',
    copy: 'Copy',
    copied: 'Copied',
    unanswered: 'No answer, retrying',
    notAcknowledged: 'Not acknowledged, retrying',
    delivery: 'Delivery',
    event: 'Event',
    reference: 'Reference',
    address: 'Sent to',
    attempts: 'Attempts',
    attempt: 'Attempt',
    attemptCount: (count) => (count === 1 ? '1 attempt' : `${count} attempts`),
    newestOnly: (count) => `The newest ${count} are shown.`,
    nextAttempt: 'Next attempt',
    notSentYet: 'Not sent yet.',
    neverSent: 'The emulator dropped this notification. Your reconciliation must find the payment.',
    fault: 'Fault',
    resend: 'Send again',
    request: 'Request',
    reply: 'Reply',
    noReply: 'No reply:',
    cutOff: 'The emulator does not keep the rest.',
    bytesInHex: (count) => `${count} bytes, in hexadecimal:`,
    notFound: 'Not found',
    notFoundHint: 'This page does not exist, or the emulator forgot its content.',
    refused: 'Request refused',
    refusedHint: 'Open the dashboard again, and retry from its page.',
  },
  fr: {
    name: 'Émulateur du Payment Link Service',
    testOnly: 'Environnement de test : aucun argent réel',
    live: 'En direct',
    waiting: 'Reconnexion…',
    api: 'API',
    payPages: 'Pages de paiement',
    webhook: 'Les notifications vont à',
    noWebhook: 'nulle part : lancez l’émulateur avec webhook.url',
    secretsHint:
      'La clé d’API et le secret du webhook ne sont pas affichés ici. Ils sont affichés ' +
      'là où l’émulateur a été lancé.',
    overview: 'Vue d’ensemble',
    payments: 'Paiements',
    deliveries: 'Notifications',
    owed: 'Notifications à livrer',
    noPayments: 'Aucun paiement ici.',
    noDeliveries: 'Aucune notification ici.',
    status: { pending: 'En attente', success: 'Payé', failed: 'Échoué', cancelled: 'Annulé' },
    state: {
      pending: 'En route',
      delivered: 'Livrée',
      dropped: 'Perdue',
      sent: 'Envoyée avec défaut',
    },
    disturbed: { drop: 'perdue', delay: 'retardée', reorder: 'retenue' },
    create: 'Créer un lien de paiement',
    kind: 'Genre de montant',
    fixed: 'Montant fixe',
    free: 'Le client choisit',
    fields: {
      amount: 'Montant',
      amount_min: 'Montant minimal',
      amount_max: 'Montant maximal',
      reference: 'Référence',
      description: 'Description',
      return_url: 'URL de retour',
      cancel_url: 'URL d’annulation',
      single_use: 'Usage unique',
    },
    hints: {
      amount: 'Un nombre entier de francs CFA, au moins 1.',
      amount_min: 'Un nombre entier de francs CFA, au moins 1.',
      amount_max: 'Un nombre entier, pas moins que le montant minimal.',
      reference: 'Celle de votre commande. Aucun autre lien ne doit l’avoir.',
      description: 'Ce que le client paie. Nécessaire quand le client choisit.',
      return_url: 'Où va le client après le paiement : http ou https.',
      cancel_url: 'Où va le client après une annulation : http ou https.',
      single_use: 'Peut être payé une fois.',
    },
    optional: 'facultatif',
    createButton: 'Créer le lien',
    wrongForm: 'Le lien n’a pas été créé. Corrigez le champ signalé.',
    filterName: 'Filtrer les paiements',
    contains: 'La référence contient',
    statusLabel: 'Statut',
    anyStatus: 'Tous',
    filter: 'Filtrer',
    newer: 'Paiements plus récents',
    older: 'Paiements plus anciens',
    pageOf: (page, pages) => `Page ${page} sur ${pages}`,
    back: 'Tous les paiements',
    payment: 'Paiement',
    amount: 'Montant',
    between: (min, max) => `De ${min} à ${max}, au choix du client`,
    createdAt: 'Créé',
    singleUse: 'Usage unique',
    yes: 'Oui',
    no: 'Non',
    openPage: 'Ouvrir la page de paiement',
    actions: 'Ce qui lui arrive',
    pay: 'Payer',
    paySilently: 'Payer sans notification',
    fail: 'Faire échouer',
    cancel: 'Annuler',
    amountToPay: 'Montant à payer (F CFA)',
    amountWrong: (min, max) => `Indiquez un montant entier, de ${min} à ${max}.`,
    noActions: 'Ce paiement est clos.',
    faults: 'Envoyer une notification défectueuse',
    faultsHint:
      'Chacune part aussitôt et ne change rien ici. La réponse attendue dépend du ' +
      'paiement, payé ou non. Le sort de la commande, seule votre boutique le connaît.',
    send: 'Envoyer',
    expected: 'Attendu :',
    verdict: {
      expected: 'Comme attendu',
      tolerated: 'Acceptée, mais plus strict serait plus sûr',
      unexpected: 'Pas comme attendu',
    },
    judgedAs: (status) => `Pour un paiement dont le statut est : ${status}.`,
    runAll: 'Lancer tous les défauts',
    timeline: 'Chronologie',
    timelineHint: 'Requêtes à l’API, paiements et notifications, les plus récents d’abord.',
    filterTimeline: 'Filtrer la chronologie',
    happeningLabel: 'Genre',
    happening: { request: 'Requête à l’API', payment: 'Paiement', delivery: 'Notification' },
    nothingHappened: 'Rien ici pour l’instant.',
    sendTo: 'Envoyer à',
    wrongTarget:
      'Indiquez une adresse http ou https de cette machine, ou d’un hôte autorisé au lancement.',
    asCurl: 'En commande curl',
    copy: 'Copier',
    copied: 'Copié',
    unanswered: 'Sans réponse, nouvel essai prévu',
    notAcknowledged: 'Non acceptée, nouvel essai prévu',
    delivery: 'Notification',
    event: 'Événement',
    reference: 'Référence',
    address: 'Envoyée à',
    attempts: 'Tentatives',
    attempt: 'Tentative',
    attemptCount: (count) => (count === 1 ? '1 tentative' : `${count} tentatives`),
    newestOnly: (count) => `Les ${count} plus récentes sont affichées.`,
    nextAttempt: 'Prochaine tentative',
    notSentYet: 'Pas encore envoyée.',
    neverSent:
      'Elle a été perdue, jamais envoyée. C’est à votre rapprochement de trouver ce paiement.',
    fault: 'Défaut',
    resend: 'Renvoyer',
    request: 'Requête',
    reply: 'Réponse',
    noReply: 'Pas de réponse :',
    cutOff: 'La suite n’est pas conservée.',
    bytesInHex: (count) => `${count} octets, en hexadécimal :`,
    notFound: 'Introuvable',
    notFoundHint: 'Il n’y a rien ici, ou c’est oublié depuis.',
    refused: 'Demande refusée',
    refusedHint: 'Ouvrez de nouveau le tableau de bord et réessayez depuis sa page.',
  },
};

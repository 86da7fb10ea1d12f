import type { Language } from '../language.js';

interface Texts {
  readonly testPage: string;
  readonly title: string;
  readonly reference: string;
  readonly description: string;
  readonly amountLabel: string;
  readonly amountBounds: (min: string, max: string) => string;
  readonly amountWrong: (min: string, max: string) => string;
  readonly pay: string;
  readonly payAmount: (amount: string) => string;
  readonly cancel: string;
  readonly fail: string;
  readonly failed: string;
  readonly paid: string;
  readonly paidAmount: (amount: string) => string;
  readonly cancelled: string;
  readonly back: string;
  readonly notFound: string;
  readonly notFoundHint: string;
  readonly refused: string;
  readonly refusedHint: string;
}

export const TEXTS: Readonly<Record<Language, Texts>> = {
  fr: {
    testPage: 'Page de test : aucun argent réel',
    title: 'Paiement',
    reference: 'Référence',
    description: 'Description',
    amountLabel: 'Montant à payer (F CFA)',
    amountBounds: (min, max) => `De ${min} à ${max}`,
    amountWrong: (min, max) => `Indiquez un montant entier, de ${min} à ${max}.`,
    pay: 'Payer',
    payAmount: (amount) => `Payer ${amount}`,
    cancel: 'Annuler',
    fail: 'Simuler un échec',
    failed: 'Le paiement a échoué. Vous pouvez réessayer.',
    paid: 'Paiement reçu',
    paidAmount: (amount) => `Nous avons bien reçu ${amount}.`,
    cancelled: 'Paiement annulé',
    back: 'Retour au marchand',
    notFound: 'Lien introuvable',
    notFoundHint: 'Ce lien de paiement n’existe pas. Demandez-en un nouveau au marchand.',
    refused: 'Demande refusée',
    refusedHint: 'Ouvrez de nouveau le lien de paiement et réessayez depuis la page.',
  },
  en: {
    testPage: 'Test page: no real money',
    title: 'Payment',
    reference: 'Reference',
    description: 'Description',
    amountLabel: 'Amount to pay (CFA francs)',
    amountBounds: (min, max) => `From ${min} to ${max}`,
    amountWrong: (min, max) => `Enter a whole amount from ${min} to ${max}.`,
    pay: 'Pay',
    payAmount: (amount) => `Pay ${amount}`,
    cancel: 'Cancel',
    fail: 'Simulate a failure',
    failed: 'The payment failed. You can try again.',
    paid: 'Payment received',
    paidAmount: (amount) => `We have received ${amount}.`,
    cancelled: 'Payment cancelled',
    back: 'Return to the merchant',
    notFound: 'Link not found',
    notFoundHint: 'This payment link does not exist. Ask the merchant for a new one.',
    refused: 'Request refused',
    refusedHint: 'Open the payment link again, and retry from the page.',
  },
};

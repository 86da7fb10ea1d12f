import type { Language } from '../language.js';

const en = {
  testPage: 'Test page: no real money',
  title: 'Payment',
  reference: 'Reference',
  description: 'Description',
  amountLabel: 'Amount to pay (CFA francs)',
  amountBounds: (min: string, max: string) => `From ${min} to ${max}`,
  amountWrong: (min: string, max: string) => `Enter a whole amount from ${min} to ${max}.`,
  pay: 'Pay',
  payAmount: (amount: string) => `Pay ${amount}`,
  cancel: 'Cancel',
  fail: 'Simulate a failure',
  failed: 'The payment failed. You can try again.',
  paid: 'Payment received',
  paidAmount: (amount: string) => `We have received ${amount}.`,
  cancelled: 'Payment cancelled',
  back: 'Return to the merchant',
  notFound: 'Link not found',
  notFoundHint: 'This payment link does not exist. Ask the merchant for a new one.',
  refused: 'Request refused',
  refusedHint: 'Open the payment link again, and retry from the page.',
};

const fr: typeof en = {
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
};

export const TEXTS: Readonly<Record<Language, typeof en>> = { en, fr };

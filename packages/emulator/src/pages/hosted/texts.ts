import { useLanguage, type Language } from '../language.js';

const en = {
  testPage: 'Test page: no real money',
  title: 'Payment',
  reference: 'Reference',
  amountLabel: 'Amount to pay (CFA francs)',
  amountBounds: (min: string, max: string) => `From ${min} to ${max}`,
  amountWrong: (min: string, max: string) => `Enter a whole amount from ${min} to ${max}.`,
  pay: 'Pay',
  payAmount: (amount: string) => `Pay ${amount}`,
  cancel: 'Cancel',
  fail: 'Simulate a failure',
  tryAgain: 'The payment failed. You were not charged, and you can try again.',
  closed: { success: 'Payment received', failed: 'Payment failed', cancelled: 'Payment cancelled' },
  said: {
    success: (amount: string) => `We have received ${amount}.`,
    failed: () => 'You were not charged. Return to the merchant to try again.',
    cancelled: () => 'You were not charged.',
  },
  back: 'Return to the merchant',
  notFound: 'Link not found',
  notFoundHint: 'This payment link does not exist. Ask the merchant for a new one.',
  refused: 'Request rejected',
  refusedHint: 'Open the payment link again and retry from that page.',
};

const fr: typeof en = {
  testPage: 'Page de test : aucun argent réel',
  title: 'Paiement',
  reference: 'Référence',
  amountLabel: 'Montant à payer (F CFA)',
  amountBounds: (min, max) => `Entre ${min} et ${max}`,
  amountWrong: (min, max) => `Saisissez un montant sans décimales, entre ${min} et ${max}.`,
  pay: 'Payer',
  payAmount: (amount) => `Payer ${amount}`,
  cancel: 'Annuler',
  fail: 'Simuler un échec',
  tryAgain: 'Le paiement a échoué. Aucun montant n’a été débité : vous pouvez réessayer.',
  closed: { success: 'Paiement reçu', failed: 'Échec du paiement', cancelled: 'Paiement annulé' },
  said: {
    success: (amount) => `Nous avons bien reçu ${amount}.`,
    failed: () => 'Aucun montant n’a été débité. Retournez sur le site du marchand pour réessayer.',
    cancelled: () => 'Aucun montant n’a été débité.',
  },
  back: 'Retour au site du marchand',
  notFound: 'Lien introuvable',
  notFoundHint: 'Ce lien de paiement n’existe pas. Demandez-en un nouveau au marchand.',
  refused: 'Demande refusée',
  refusedHint: 'Rouvrez le lien de paiement, puis réessayez.',
};

const TEXTS: Readonly<Record<Language, typeof en>> = { en, fr };

/** Returns the texts in the language of the page. */
export const useTexts = (): typeof en => TEXTS[useLanguage()];

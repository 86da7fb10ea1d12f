import type { OrderState } from './order-state.js';

/** The shop's languages, equal to the pay page's. */
export const LANGUAGES = ['en', 'fr'] as const;
export type Language = (typeof LANGUAGES)[number];

interface Texts {
  readonly buy: string;
  readonly picture: string;
  readonly order: string;
  readonly payNow: string;
  readonly lookAgain: string;
  readonly tryAgain: string;
  readonly toShop: string;
  readonly state: Readonly<Record<OrderState, string>>;
  readonly stateHint: Readonly<Record<OrderState, string>>;
  readonly noOrder: readonly [title: string, message: string];
  readonly notFound: readonly [title: string, message: string];
  readonly unreadable: readonly [title: string, message: string];
  readonly failed: readonly [title: string, message: string];
}

export const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    buy: 'Buy',
    picture: 'A woven basket',
    order: 'Order',
    payNow: 'Pay now',
    lookAgain: 'Look again',
    tryAgain: 'Try again',
    toShop: 'To the shop',
    state: {
      paid: 'Paid',
      confirming: 'Confirming your payment…',
      checking: 'We are checking your payment',
      unpaid: 'Not paid yet',
      failed: 'The payment failed',
      cancelled: 'Cancelled',
      unprepared: 'Not prepared',
    },
    stateHint: {
      paid: 'Thank you. We are packing it.',
      confirming:
        'Thank you. The payment service is telling us about your payment. You need not pay again.',
      checking: 'This can take a while. If you have paid, you need not pay again.',
      unpaid: 'Nothing was charged so far.',
      failed: 'You were not charged. If you try again, we open a new payment page for this order.',
      cancelled:
        'You cancelled this payment, and you were not charged. We keep your order: you can try again.',
      unprepared: 'We could not open the payment page. You were not charged: please try again.',
    },
    noOrder: ['No such order', 'Perhaps its address was cut off.'],
    notFound: ['Not found', 'There is no such page.'],
    unreadable: ['That did not work', 'The shop could not read this request.'],
    failed: [
      'Something went wrong',
      'Please open this page again. If you have paid, you need not pay again.',
    ],
  },
  fr: {
    buy: 'Acheter',
    picture: 'Un panier tressé',
    order: 'Commande',
    payNow: 'Payer maintenant',
    lookAgain: 'Vérifier de nouveau',
    tryAgain: 'Réessayer',
    toShop: 'Retour à la boutique',
    state: {
      paid: 'Payé',
      confirming: 'Confirmation de votre paiement…',
      checking: 'Nous vérifions votre paiement',
      unpaid: 'Pas encore payé',
      failed: 'Le paiement a échoué',
      cancelled: 'Annulé',
      unprepared: 'Page de paiement indisponible',
    },
    stateHint: {
      paid: 'Merci. Nous préparons votre colis.',
      confirming:
        'Merci. Nous attendons la confirmation du service de paiement. Inutile de payer ' +
        'une seconde fois.',
      checking:
        'Cela peut prendre un moment. Si vous avez payé, inutile de payer une seconde fois.',
      unpaid: 'Aucun montant n’a encore été débité.',
      failed:
        'Aucun montant n’a été débité. Si vous réessayez, nous ouvrons une nouvelle page de ' +
        'paiement pour cette commande.',
      cancelled:
        'Vous avez annulé ce paiement, et aucun montant n’a été débité. Nous conservons votre ' +
        'commande, et vous pouvez réessayer.',
      unprepared:
        'Nous n’avons pas pu ouvrir la page de paiement. Aucun montant n’a été débité : ' +
        'veuillez réessayer.',
    },
    noOrder: ['Commande introuvable', 'Le lien que vous avez suivi est peut-être incomplet.'],
    notFound: ['Page introuvable', 'Cette page n’existe pas.'],
    unreadable: ['Demande refusée', 'La boutique n’a pas pu lire votre demande.'],
    failed: [
      'Une erreur est survenue',
      'Rouvrez cette page. Si vous avez payé, inutile de payer une seconde fois.',
    ],
  },
};

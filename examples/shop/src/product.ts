import type { Price } from './orders.js';
import type { Language } from './texts.js';

export interface Product {
  readonly id: string;
  readonly name: Readonly<Record<Language, string>>;
  readonly about: Readonly<Record<Language, string>>;
  /** The amount is in the smallest unit of the currency: XOF has no cents, so francs. */
  readonly price: Price;
}

export const BASKET: Product = {
  id: 'basket',
  name: { en: 'Woven basket', fr: 'Panier tressé' },
  about: {
    en: 'Bolgatanga straw, leather handle, made by hand.',
    fr: 'Paille de Bolgatanga, anse en cuir, fait à la main.',
  },
  price: { amount: 15_000, currency: 'XOF' },
};

/** The product's name in the customer's language, or its id if the shop no longer sells it. */
export const nameOf = (product: string, language: Language): string =>
  product === BASKET.id ? BASKET.name[language] : product;

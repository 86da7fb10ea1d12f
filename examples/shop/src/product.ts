import type { Language } from './texts.js';

export interface Product {
  readonly name: Readonly<Record<Language, string>>;
  readonly about: Readonly<Record<Language, string>>;
  /** In the smallest unit of XOF, which has no cents: francs. */
  readonly price: number;
}

export const BASKET: Product = {
  name: { en: 'Woven basket', fr: 'Panier tressé' },
  about: {
    en: 'Bolgatanga straw, leather handle, made by hand.',
    fr: 'Paille de Bolgatanga, anse en cuir, fait à la main.',
  },
  price: 15_000,
};

export interface Product {
  readonly name: string;
  readonly about: string;
  /** In the smallest unit of XOF, which has no cents: francs. */
  readonly price: number;
}

export const BASKET: Product = {
  name: 'Woven basket',
  about: 'Bolgatanga straw, leather handle, made by hand.',
  price: 15_000,
};

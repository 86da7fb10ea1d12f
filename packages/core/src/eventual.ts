/**
 * A value, or a promise if something waits: a `secret` function, or WebCrypto. Otherwise the proof
 * returns immediately, so that nobody can change the bytes between the signature and the parser,
 * and no copy of the bytes is needed.
 */
export type Eventual<T> = T | Promise<T>;

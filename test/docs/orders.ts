/** Stands for the reader's own module of the same name, which README.md imports. */
export declare function creditOrder(reference: string): Promise<void>;

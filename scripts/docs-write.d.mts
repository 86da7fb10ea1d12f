/** Every generated document by its path, as it must be. */
export function generated(): Promise<Map<string, string>>;

/** The source of each door, by the name that is imported. */
export function doors(): [name: string, source: string][];

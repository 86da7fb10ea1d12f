export function isMessage(text: string): boolean;

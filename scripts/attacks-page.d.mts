export function attacksPage(): string;

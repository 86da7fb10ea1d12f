/** Makes the relative links of a markdown file absolute. */
export function withAbsoluteLinks(markdown: string, folder: string, repository: string): string;

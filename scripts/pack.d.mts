/** The packages that are published, by name, with their folders. */
export function publishedPackages(): Map<string, string>;
/** Packs every package into a folder, as publishing would, and gives the path of each tarball by the package's name. */
export function packAll(destination: string): Record<string, string>;
/** Packages, and those of ours that they stand on. */
export function withItsOwn(names: readonly string[]): string[];

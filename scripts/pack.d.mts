/** The packages that are published, by name, with their folders. */
export function publishedPackages(): Map<string, string>;
/** Packs the packages into a folder, as publishing would, and gives the path of each tarball by the package's name. */
export function packAll(destination: string, names?: readonly string[]): Record<string, string>;
/** The lines that install packages from their tarballs into an app: one for npm, one for pnpm. */
export function installLines(
  names: readonly string[],
  tarballs: Readonly<Record<string, string>>,
): string[];
/** Packages, and those of ours that they stand on. */
export function withItsOwn(names: readonly string[]): string[];

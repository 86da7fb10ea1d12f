export interface Row {
  readonly title: string;
  readonly answer: string;
  readonly applies: string;
}
export function readRows(): Readonly<Record<string, Row>>;
export function rowsOf(text: string): ReadonlySet<string>;
export function attacksPage(): string;

/** Writes the figures of the last run to the home page, in both languages. */
import { readFileSync, writeFileSync } from 'node:fs';

const FIGURES = {
  attacks: {
    'index.md': '# attacks on each of # hosts',
    'fr/index.md': '# attaques contre chacune des # plateformes',
  },
  kills: {
    'index.md': '# kills, # orders lost, # credited twice',
    'fr/index.md': '# arrêts brutaux, # commande perdue, # créditée deux fois',
  },
  speed: {
    'index.md': '# times the requests per CPU second',
    'fr/index.md': '# fois plus de requêtes par seconde de CPU',
  },
} as const;

/** @param numbers as English pages write them, in the order of the sentence */
export function writeFigure(name: keyof typeof FIGURES, ...numbers: readonly string[]): void {
  for (const [page, sentence] of Object.entries(FIGURES[name])) {
    const path = new URL(`../docs/${page}`, import.meta.url);
    const left = numbers.map((number) => (page.startsWith('fr/') ? toFrench(number) : number));
    const text = sentence.replaceAll('#', () => left.shift()!);
    const before = new RegExp(sentence.replaceAll('#', '\\d[\\d.,\\s]*?'));
    writeFileSync(path, readFileSync(path, 'utf8').replace(before, text));
  }
}

/** A comma before the fraction, and a space before each thousand. */
const toFrench = (number: string): string => number.replaceAll(',', ' ').replace('.', ',');

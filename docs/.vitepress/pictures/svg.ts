/** The parts of a picture. Its colours follow the light or dark scheme of the page around it. */

export type Tone = 'plain' | 'soft' | 'bad' | 'good' | 'key';

type Pair = readonly [x: number, y: number];

const LIGHT =
  '--text:#1f2328;--soft:#59636e;--line:#8c959f;--back:#f6f8fa;--bad:#cf222e;--bad-back:#ffebe9;' +
  '--good:#1a7f37;--good-back:#dafbe1;--key:#0969da;--key-back:#ddf4ff';
const DARK =
  '--text:#f0f6fc;--soft:#9198a1;--line:#656c76;--back:#151b23;--bad:#f85149;--bad-back:#25171c;' +
  '--good:#3fb950;--good-back:#12261e;--key:#58a6ff;--key-back:#121d2f';
const tones = ['bad', 'good', 'key'].map(
  (tone) =>
    `.${tone}{fill:var(--${tone})}rect.${tone}{fill:var(--${tone}-back);stroke:var(--${tone})}` +
    `path.${tone}{stroke:var(--${tone});fill:none}`,
);
const STYLE = [
  `svg{${LIGHT}}`,
  `@media (prefers-color-scheme:dark){svg{${DARK}}}`,
  'text{font:13px system-ui,-apple-system,Segoe UI,Roboto,sans-serif;text-anchor:middle;fill:var(--text)}',
  'text.soft{font-size:12px;fill:var(--soft)}.bold{font-weight:600}.start{text-anchor:start}',
  '.end{text-anchor:end}rect{fill:var(--back);stroke:var(--line)}path{fill:none;stroke:var(--line)}',
  'path{stroke-width:1.5}.open{fill:none!important}.dashed{stroke-dasharray:4 3}',
  ...tones,
].join('\n');

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;' };
const escape = (text: string): string => text.replace(/[&<]/g, (found) => ENTITIES[found]!);

export interface TextLook {
  readonly tone?: Tone;
  readonly bold?: boolean;
  readonly anchor?: 'start' | 'middle' | 'end';
}

export function text([x, y]: Pair, words: string, look: TextLook = {}): string {
  const { tone = 'plain', bold = false, anchor = 'middle' } = look;
  const classes = [tone, bold ? 'bold' : '', anchor].filter(
    (name) => !/^(plain|middle|)$/.test(name),
  );
  const named = classes.length === 0 ? '' : ` class="${classes.join(' ')}"`;
  return `<text x="${x}" y="${y}"${named}>${escape(words)}</text>`;
}

export interface BoxLook {
  readonly tone?: Tone;
  readonly radius?: number;
  readonly open?: boolean;
  readonly dashed?: boolean;
}

/** A box with centred lines. The first is bold. */
export function box(
  [x, y]: Pair,
  [width, height]: Pair,
  lines: readonly string[],
  { tone = 'plain', radius = 8, open = false, dashed = false }: BoxLook = {},
): string {
  const classes = [tone, open ? 'open' : '', dashed ? 'dashed' : ''].filter(
    (name) => name !== '' && name !== 'plain',
  );
  const first = y + height / 2 + 4.5 - (lines.length - 1) * 8;
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" class="${classes.join(' ')}"/>`,
    ...lines.map((line, index) =>
      text([x + width / 2, first + index * 16], line, {
        tone: index > 0 ? 'soft' : tone,
        bold: index === 0,
      }),
    ),
  ].join('\n');
}

/** A line through points such as `8,20 30,20`, with a head at its end. */
export function arrow(points: string, tone: Tone = 'plain'): string {
  const [fromX = 0, fromY = 0, x = 0, y = 0] = points.split(/[ ,]/).slice(-4).map(Number);
  const angle = Math.atan2(y - fromY, x - fromX);
  const head = [angle + 2.55, angle - 2.55].map(
    (side) => `${(x + 7 * Math.cos(side)).toFixed(1)},${(y + 7 * Math.sin(side)).toFixed(1)}`,
  );
  const named = tone === 'plain' ? '' : ` class="${tone}"`;
  return `<path${named} d="M${points}M${head[0]} ${x},${y} ${head[1]}"/>`;
}

/** A line without a head. */
export const line = (points: string, isDashed = false): string =>
  `<path${isDashed ? ' class="dashed"' : ''} d="M${points}"/>`;

export interface Picture {
  readonly size: Pair;
  readonly title: string;
  readonly parts: readonly string[];
}

export const draw = ({ size: [width, height], title, parts }: Picture): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${STYLE}</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n');

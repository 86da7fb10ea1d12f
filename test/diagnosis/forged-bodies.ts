/** A stranger's bodies: cheap to send, and expensive to rewrite in other ways. */

const LARGE = 64_000;
// The longest body that a receiver's diagnosis parses.
const PARSED = 4_096;

function filled(length: number, open: string, item: string, close: string): Buffer {
  const count = Math.floor((length - open.length - close.length) / (item.length + 1));
  return Buffer.from(open + Array.from({ length: count }, () => item).join(',') + close);
}

function nested(length: number, depth: number, item = '1'): Buffer {
  return filled(length, '['.repeat(depth), item, ']'.repeat(depth));
}

function keys(length: number): Buffer {
  const members: string[] = [];
  for (let size = 2; size < length - 16; size += members.at(-1)!.length + 1)
    members.push(`"k${members.length}":${members.length}`);
  return Buffer.from(`{${members.reverse().join(',')}}`);
}

const shapes: Readonly<Record<string, (length: number) => Buffer>> = {
  'nested to depth 60': (length) => nested(length, 60),
  'nested to depth 1,000': (length) => nested(length, 1_000),
  'nested to depth 1,500': (length) => nested(length, 1_500),
  'nested as deep as it is long': (length) => nested(length, length / 2 - 2),
  'of flat numbers': (length) => filled(length, '[', '1', ']'),
  'of long numbers': (length) => filled(length, '[', '1e307', ']'),
  'of flat escapes': (length) => filled(length, '[', '"\\u0001"', ']'),
  'of one text of escapes': (length) => Buffer.from(`["${'\\u00e9'.repeat(length / 6 - 1)}"]`),
  'of letters that others escape': (length) =>
    Buffer.from(JSON.stringify(['é/<&'.repeat(length / 5 - 1)])),
  'of empty lists': (length) => filled(length, '[', '[]', ']'),
  'of many keys': keys,
  'of digits and commas': (length) => filled(length, '', '255', ''),
  'of bytes that are no text': (length) => Buffer.alloc(length, 0xff),
  'of replaced characters': (length) => Buffer.from('\ufffd'.repeat(length / 3)),
  'of blanks': (length) => Buffer.alloc(length, ' '),
  'of blanks between letters': (length) => Buffer.from(`a${' '.repeat(length - 2)}a`),
};

export const forgedBodies: readonly (readonly [name: string, body: Buffer])[] = Object.entries(
  shapes,
).flatMap(([name, make]) =>
  [LARGE, PARSED].map((length) => [`${length} bytes ${name}`, make(length)] as const),
);

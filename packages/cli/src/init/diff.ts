/** Returns the changed lines as `diff` shows them, without the common start and end. */
export function diffLines(
  before: string,
  after: string,
): { readonly sign: '-' | '+'; readonly line: string }[] {
  const [old, fresh] = [split(before), split(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < fresh.length - start &&
    old.at(-1 - end) === fresh.at(-1 - end)
  )
    end++;
  return [
    ...old.slice(start, old.length - end).map((line) => ({ sign: '-' as const, line })),
    ...fresh.slice(start, fresh.length - end).map((line) => ({ sign: '+' as const, line })),
  ];
}

function split(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

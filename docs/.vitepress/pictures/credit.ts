/** Three ways into one credit, a crash at each step, and the states of a payment. */
import { arrow, box, line, text, type Picture, type Tone } from './svg.js';

export function threeWays(): Picture {
  const ways = [
    ['webhook', 'receive'],
    ['return page', 'settle'],
    ['schedule', 'reconcile'],
  ].flatMap((lines, index) => {
    const x = 8 + index * 132;
    return [box([x, 12], [120, 50], lines), arrow(`${x + 60},62 ${x + 60},88`)];
  });
  return {
    size: [400, 336],
    title: 'Three ways into one credit',
    parts: [
      ...ways,
      box(
        [8, 90],
        [384, 50],
        ['find, then ask the service', 'paid? the same amount? the same currency?'],
      ),
      arrow('200,140 200,164'),
      box(
        [8, 166],
        [384, 50],
        ['credit: one conditional write', '… SET paid_at = now() WHERE … AND paid_at IS NULL'],
        { tone: 'key' },
      ),
      arrow('104,216 104,248', 'good'),
      arrow('296,216 296,248'),
      text([112, 237], '1 row', { tone: 'good', anchor: 'start' }),
      text([304, 237], '0 rows', { tone: 'soft', anchor: 'start' }),
      box([8, 250], [192, 50], ['this call was first', 'the order is paid'], { tone: 'good' }),
      box([208, 250], [184, 50], ['another call was first', 'the order is paid already']),
      text([200, 324], 'Each way reads the order again, and trusts only its row.', {
        tone: 'soft',
      }),
    ],
  };
}

interface Outcome {
  readonly steps: readonly string[];
  readonly tone: Tone;
  readonly truth: readonly string[];
}

export function crash(): Picture {
  const outcomes: readonly Outcome[] = [
    {
      steps: ['verify the signature', 'find the order', 'ask the service'],
      tone: 'plain',
      truth: ['nothing happened', 'The next delivery', 'starts again.'],
    },
    {
      steps: ['credit sends a write'],
      tone: 'key',
      truth: ['committed or not', 'find shows it.'],
    },
    {
      steps: ['find the order again', 'reply 200'],
      tone: 'good',
      truth: ['the order is paid', 'The next delivery gets 200,', 'and no second credit.'],
    },
  ];
  const parts: string[] = [];
  let y = 36;
  let number = 0;
  for (const { steps, tone, truth } of outcomes) {
    const top = y;
    for (const step of steps) {
      parts.push(box([8, y], [184, 36], [`${++number}. ${step}`], { tone }));
      if (number < 6) parts.push(arrow(`100,${y + 36} 100,${y + 51}`));
      y += 52;
    }
    const height = y - 16 - top;
    parts.push(
      line(`192,${top + height / 2} 212,${top + height / 2}`, true),
      box([214, top], [178, height], truth, { tone, dashed: true }),
    );
  }
  return {
    size: [400, y],
    title: 'A crash after each step',
    parts: [
      text([100, 22], 'a delivery', { bold: true }),
      text([303, 22], 'true after a crash', { bold: true }),
      ...parts,
    ],
  };
}

export function states(): Picture {
  const rows: readonly (readonly [string, Tone, string, string])[] = [
    ['pending', 'plain', '503: not yet', 'pending'],
    ['success', 'good', '200: credited once', 'paid'],
    ['failed', 'bad', '503: not paid', 'failed'],
    ['cancelled', 'bad', '503: not paid', 'cancelled'],
  ];
  const topOf = (index: number): number => 40 + index * 56;
  const cells = rows.flatMap(([state, tone, reply, status], index) => {
    const y = topOf(index);
    return [
      box([52, y], [104, 36], [state], { tone }),
      text([190, y + 23], reply, { anchor: 'start' }),
      text([354, y + 23], status, { bold: true }),
    ];
  });
  return {
    size: [400, 284],
    title: 'The states of a payment, and the replies',
    parts: [
      text([104, 24], 'at the service', { tone: 'soft' }),
      text([190, 24], 'a notification gets', { tone: 'soft', anchor: 'start' }),
      text([354, 24], 'settle says', { tone: 'soft' }),
      ...cells,
      arrow('104,76 104,94', 'good'),
      line('52,58 20,58 20,226'),
      arrow('20,170 50,170'),
      arrow('20,226 50,226'),
      arrow('156,170 172,170 172,114 158,114', 'good'),
      text([8, 272], 'A customer can fail, and then succeed: still one credit.', {
        tone: 'soft',
        anchor: 'start',
      }),
    ],
  };
}

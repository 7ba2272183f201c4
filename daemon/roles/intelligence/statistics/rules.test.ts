// Statistics of sources count correctly, and the interval matches published values.
import { expect, test } from 'vitest'
import { buildTallyKey, computeStatistics, computeTotal, tallyKeyRange, wilsonInterval } from './rules.ts'

type TallyKeyInput = Parameters<typeof buildTallyKey>[0]

const signal = (status: TallyKeyInput['status'], overrides: Partial<TallyKeyInput> = {}): TallyKeyInput => ({
  ...{
    visibility: 'listed',
    status,
    metadata: { status_history: [] },
    detected_at: '2026-03-02T23:59:59.999Z',
    signal_type: 't',
  },
  ...{ source: { type: 'polling', name: 'feed' }, ...overrides },
})

function countByKey(all: readonly TallyKeyInput[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const each of all) counts.set(buildTallyKey(each), (counts.get(buildTallyKey(each)) ?? 0) + 1)
  return counts
}

test('each signal is counted once, under its source, type and outcome', () => {
  const lines = computeStatistics(
    countByKey([
      ...[signal('new'), signal('acknowledged'), signal('investigating')],
      ...[signal('resolved'), signal('resolved', { detected_at: '2026-03-04T00:00:00.000Z' }), signal('resolved')],
      signal('dismissed'),
      signal('dismissed', { metadata: { status_history: [], archived: true } }),
      signal('resolved', { source: { type: 'polling' } }),
      signal('new', { signal_type: '"] odd' }),
    ]),
  )
  expect(
    lines.map(({ source, signal_type, counts, disposed, precision }) => [
      source.name,
      signal_type,
      counts,
      disposed,
      precision,
    ]),
  ).toEqual([
    [undefined, 't', { open: 0, resolved: 1, dismissed: 0, archived: 0 }, 1, 1],
    ['feed', '"] odd', { open: 1, resolved: 0, dismissed: 0, archived: 0 }, 0, null],
    ['feed', 't', { open: 3, resolved: 3, dismissed: 1, archived: 1 }, 5, 0.6],
  ])
  expect(lines[1]).not.toHaveProperty('interval')
  expect(computeTotal(lines)).toMatchObject({
    counts: { open: 4, resolved: 4, dismissed: 1, archived: 1 },
    disposed: 6,
  })
})

test('a span of days includes its first and last day completely, and no other day', () => {
  const { gte, lt } = tallyKeyRange('2026-03-01', '2026-03-02')
  const isIn = (detected_at: string) => {
    const tally = buildTallyKey(signal('new', { detected_at }))
    return tally >= gte && tally < lt
  }
  expect(['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'].map((day) => isIn(`${day}T12:00:00.000Z`))).toEqual([
    ...[false, true, true, false],
  ])
})

test('merged and silenced signals are not counted', () => {
  const { gte } = tallyKeyRange('2026-03-01', '2026-03-02')
  const tallies = (['merged', 'silenced'] as const).map((visibility) =>
    buildTallyKey(signal('dismissed', { visibility })),
  )
  expect(tallies.every((tally) => tally < gte)).toBe(true)
})

test('the interval is Wilson’s score interval', () => {
  // Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998) 857, table I, method 3.
  const published = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const
  for (const [hits, trials, low, high] of published) {
    expect(wilsonInterval(hits, trials).low).toBeCloseTo(low, 4)
    expect(wilsonInterval(hits, trials).high).toBeCloseTo(high, 4)
  }
  expect(wilsonInterval(20, 20)).toEqual({ low: expect.closeTo(1 - 0.1611, 4), high: 1 })
})

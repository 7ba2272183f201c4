// Detection on streams whose changes are known: each is found within a stated delay, and streams without one stay quiet.
import { expect, test } from 'vitest'
import { type OutcomeStream, scoreDetection } from '../../../../../test/support/guide/detection-score.ts'
import { type SeededRandom, seededRandom } from '../../../../../test/support/random/seeded-random.ts'
import { ChangeDetector } from './change-detector.ts'

function draw(random: SeededRandom, length: number, rate: (at: number) => number): string {
  return Array.from({ length }, (_, at) => (random.happens(rate(at)) ? '1' : '0')).join('')
}

function listAlarms(bits: string): number[] {
  const detector = new ChangeDetector()
  return [...bits].flatMap((bit, at) => (detector.add(bit === '1') ? [at] : []))
}

function changingStreams(before: number, after: number, width: number): OutcomeStream[] {
  const at = 1_500
  return Array.from({ length: 10 }, (_, seed) => {
    const random = seededRandom(seed + 1)
    const rate = (now: number) => {
      const part = width === 0 ? Number(now >= at) : Math.min(1, Math.max(0, (now - at) / width))
      return before + part * (after - before)
    }
    return { id: `${seed}`, kind: 'generated', changes: [{ at, width }], bits: draw(random, 3_000, rate) }
  })
}

test.each([
  { before: 0.9, after: 0.6, width: 0, delay: 100 },
  { before: 0.6, after: 0.9, width: 0, delay: 120 },
  { before: 0.98, after: 0.85, width: 0, delay: 200 },
  { before: 0.3, after: 0.6, width: 0, delay: 150 },
  { before: 0.9, after: 0.5, width: 600, delay: 500 },
])('a rate of $before that becomes $after within $width outcomes is found after at most $delay', (given) => {
  const { delays, missed } = scoreDetection(changingStreams(given.before, given.after, given.width), listAlarms)
  expect(missed).toBe(0)
  expect(Math.max(...delays)).toBeLessThanOrEqual(given.delay)
})

test('streams without a change raise an alarm at most twice in 200,000 outcomes', () => {
  const rates = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1, 0, 0.95]
  const alarms = rates.map((rate, seed) => listAlarms(draw(seededRandom(seed + 100), 20_000, () => rate)).length)
  expect(alarms.reduce((sum, of) => sum + of)).toBeLessThanOrEqual(2)
})

test('an alarm names the rates on both sides, and the older part is forgotten', () => {
  const detector = new ChangeDetector()
  for (let at = 0; at < 1_000; at += 1) expect(detector.add(true)).toBeUndefined()
  const change = Array.from({ length: 40 }, () => detector.add(false)).find((found) => found !== undefined)
  expect(change?.before).toBeGreaterThan(0.95)
  expect(change?.after).toBeLessThanOrEqual(0.5)
  expect(detector.size).toBeLessThan(100)
})

test('the window holds 200,000 outcomes in a few hundred buckets', () => {
  const detector = new ChangeDetector()
  for (let at = 0; at < 200_000; at += 1) detector.add(at % 10 !== 0)
  expect(detector.size).toBe(200_000)
  expect(detector.bucketCount).toBeLessThan(300)
})

// Traces without an artifact are chosen by digest; harm and benefit are proven within stated numbers of traces, and rarely by chance.
import { expect, test } from 'vitest'
import { seededRandom } from '../../../../../test/support/random/seeded-random.ts'
import { isHeldOut, shareHeldOut } from './is-held-out.ts'
import { type EffectSamples, type EffectVerdict, isLook, judgeEffect, raiseWeight } from './judge-effect.ts'

const key = Buffer.alloc(32, 7)
const shares = { first: 0.5, later: 0.1 }
const traces = Array.from({ length: 10_000 }, (_, at) => at.toString(16).padStart(32, '0'))

test('the choice depends on key, trace and artifact alone, and has the stated share', () => {
  const held = traces.filter((trace) => isHeldOut(key, trace, 'one', 0.1))
  expect(held.length).toBeGreaterThan(900)
  expect(held.length).toBeLessThan(1_100)
  expect(traces.filter((trace) => isHeldOut(key, trace, 'one', 0.1))).toEqual(held)
  // Independent of another artifact: a tenth of a tenth.
  expect(held.filter((trace) => isHeldOut(key, trace, 'two', 0.1)).length).toBeLessThan(150)
  expect(traces.some((trace) => isHeldOut(key, trace, 'one', 0))).toBe(false)
})

test('traces that a caller has found to be held out at another site, or by a digest without the key, are as any here', () => {
  const found = traces.filter((trace) => isHeldOut(Buffer.alloc(32, 8), trace, 'one', 0.5))
  const share = found.filter((trace) => isHeldOut(key, trace, 'one', 0.5)).length / found.length
  expect(share).toBeGreaterThan(0.47)
  expect(share).toBeLessThan(0.53)
})

function runUntilJudged(seed: number, withIt: number, withoutIt: number, most: number) {
  const random = seededRandom(seed)
  let samples: EffectSamples = { attached: { successes: 0, trials: 0 }, held_out: { successes: 0, trials: 0 } }
  for (let eligible = 0; eligible < most; eligible += 1) {
    const isHeld = isHeldOut(key, `${seed}.${eligible}`, 'artifact', shareHeldOut(eligible, shares))
    const side = isHeld ? 'held_out' : 'attached'
    const isSuccess = random.happens(isHeld ? withoutIt : withIt)
    const { successes, trials } = samples[side]
    samples = { ...samples, [side]: { successes: successes + Number(isSuccess), trials: trials + 1 } }
    const { verdict } = isLook(samples) ? judgeEffect(samples) : { verdict: 'pending' }
    if (verdict !== 'pending') return { verdict: verdict as EffectVerdict, eligible: eligible + 1 }
  }
  return { verdict: 'pending' as const, eligible: most }
}
const seeds = Array.from({ length: 50 }, (_, at) => at + 1)

test('an artifact that takes the success rate from .9 to .3 is proven to harm within 64 traces', () => {
  for (const seed of seeds) expect(runUntilJudged(seed, 0.3, 0.9, 64).verdict).toBe('harm')
})

test('one that raises it from .4 to .9 is proven to help within 400', () => {
  for (const seed of seeds) expect(runUntilJudged(seed, 0.9, 0.4, 400).verdict).toBe('benefit')
})

test('one without an effect is judged in at most 2 of 50 runs of 2,000 traces', () => {
  const judged = seeds.filter((seed) => runUntilJudged(seed, 0.7, 0.7, 2_000).verdict !== 'pending')
  expect(judged.length).toBeLessThanOrEqual(2)
})

test('a proven benefit raises the weight, within a bound', () => {
  expect(raiseWeight(1)).toBe(1.5)
  expect(raiseWeight(9)).toBe(10)
})

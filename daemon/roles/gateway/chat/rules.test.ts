// The exchanges and the label that a conversation keeps, and how names and long texts reach a model.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChatExchange } from './model.ts'
import {
  cutText,
  isAboveCeiling,
  keepExchanges,
  labelOfCaller,
  lowerLevel,
  max_exchanges,
  max_history_characters,
  raiseLabel,
  toModelName,
} from './rules.ts'

const labels = { policy: 'SITE', levels: ['LOW', 'MIDDLE', 'HIGH'] }
const exchange = (message: string, response = ''): ChatExchange => ({
  ...{ at: 0, trace_id: '', message, response, model_used: 'm', tools: [] },
})

describe('a conversation keeps', () => {
  test('the newest exchanges, up to a number', () => {
    const all = Array.from({ length: max_exchanges + 3 }, (_, at) => exchange(String(at)))
    expect(keepExchanges(all)).toEqual(all.slice(3))
  })

  test('the newest exchanges, up to a size, and the last one in any case', () => {
    const half = 'a'.repeat(max_history_characters / 2)
    expect(keepExchanges([exchange('old'), exchange(half), exchange('', half)])).toHaveLength(2)
    expect(keepExchanges([exchange('old'), exchange(half, half), exchange('', `${half}${half}a`)])).toHaveLength(1)
  })
})

describe('the label of a turn', () => {
  const viewer = { tenant_id: 'alpha', clearance: { level: 'HIGH', categories: ['B', 'A'] } }

  test('is all that the caller may see, up to the ceiling, for its own tenant', () => {
    const label = {
      policy: 'SITE',
      level: 'HIGH',
      categories: ['A', 'B'],
      originator: 'alpha',
      releasable_to: ['alpha'],
    }
    expect(labelOfCaller(viewer, labels, undefined)).toEqual(label)
    expect(labelOfCaller(viewer, labels, 'MIDDLE')).toEqual({ ...label, level: 'MIDDLE' })
    const uncleared = { tenant_id: 'alpha', clearance: undefined }
    expect(labelOfCaller(uncleared, labels, 'HIGH')).toEqual({ ...label, level: 'LOW', categories: [] })
  })

  test('never lowers that of the conversation', () => {
    const high = labelOfCaller(viewer, labels, undefined)
    const low = labelOfCaller({ tenant_id: 'alpha', clearance: undefined }, labels, undefined)
    expect(raiseLabel(high, low, labels)).toEqual(high)
    expect(raiseLabel(low, high, labels)).toEqual(high)
  })

  test.each([
    [undefined, false],
    ['HIGH', false],
    ['MIDDLE', true],
  ])('is compared with the ceiling %s', (ceiling, isAbove) => {
    expect(isAboveCeiling(labelOfCaller(viewer, labels, undefined), labels.levels, ceiling)).toBe(isAbove)
  })

  test('with a level that the policy has no longer is above any ceiling', () => {
    const old = { ...labelOfCaller(viewer, labels, undefined), level: 'FORMER' }
    expect(isAboveCeiling(old, labels.levels, 'HIGH')).toBe(true)
    expect(isAboveCeiling(old, labels.levels, undefined)).toBe(false)
  })

  test.each([
    [undefined, undefined, undefined],
    ['HIGH', undefined, 'HIGH'],
    [undefined, 'LOW', 'LOW'],
    ['HIGH', 'MIDDLE', 'MIDDLE'],
  ])('has the lower one of %s and %s', (one, other, lower) => {
    expect(lowerLevel(labels.levels, one, other)).toBe(lower)
  })
})

test('a name is one that models take, the same each time, and of two tools never the same', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 200 }),
      fc.string({ minLength: 1, maxLength: 200 }),
      (one, other) => {
        expect(toModelName(one)).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
        expect(toModelName(one) === toModelName(other)).toBe(one === other)
      },
    ),
  )
  const long = `resolution-service__${'a'.repeat(60)}`
  expect([toModelName(long).length, toModelName(`${long}b`) === toModelName(long)]).toEqual([64, false])
})

test('a text is cut to its bytes, with no half character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.integer({ min: 128, max: 600 }), (text, most) => {
      const cut = cutText(text, most)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(most)
      expect(cut).not.toContain('\uFFFD')
      if (Buffer.byteLength(text) <= most) expect(cut).toBe(text)
      else expect(cut).toMatch(/\n\[cut off: the whole has \d+ bytes\]$/)
    }),
  )
})

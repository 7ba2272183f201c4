// A change is validated as the whole value would be, at the cost of the changed parts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { parseChange } from './parse-change.ts'

let check_count = 0
const item = z.strictObject({ name: z.string(), weight: z.number().min(0) }).refine(() => {
  check_count += 1
  return true
})
const box = z.strictObject({
  id: z.string(),
  lid: z.strictObject({ color: z.enum(['red', 'blue']), locked: z.boolean().optional() }),
  items: z.array(item),
  few: z.array(z.number()).max(2),
  note: z.string().optional(),
})
type Box = z.infer<typeof box>

const createBox = (): Box => ({ id: 'a', lid: { color: 'red' }, items: [{ name: 'x', weight: 1 }], few: [1] })

const oddValue = fc.oneof(fc.constantFrom<unknown>(undefined, null, -1, 'red', {}, [], [{}], [1, 2, 3]), fc.jsonValue())

/** A valid or invalid change of one part of the box; all other parts are shared. */
const changedBox = fc.oneof(
  fc.record({ key: fc.constantFrom('id', 'lid', 'items', 'few', 'note', 'more', '__proto__'), value: oddValue }),
  fc.record({ key: fc.constant('lid'), value: fc.record({ color: oddValue, locked: oddValue }, { requiredKeys: [] }) }),
  fc.record({ key: fc.constant('items'), value: fc.array(fc.record({ name: oddValue, weight: oddValue })) }),
)

test('a change is valid exactly when the whole value is', () => {
  fc.assert(
    fc.property(changedBox, fc.boolean(), ({ key, value }, isWithout) => {
      const before = createBox()
      const next: Record<string, unknown> = { ...before }
      if (isWithout) delete next[key]
      else Object.defineProperty(next, key, { value, enumerable: true, configurable: true, writable: true })
      const outcome = () => parseChange(box, before, next as Box)
      if (box.safeParse(next).success) expect(outcome()).toEqual(next)
      else expect(outcome).toThrow(z.ZodError)
    }),
    { numRuns: 2_000 },
  )
})

test('shared parts are not validated again', () => {
  const before = createBox()
  check_count = 0
  const next = { ...before, id: 'b', items: [...before.items, { name: 'y', weight: 2 }] }
  expect(parseChange(box, before, next)).toBe(next)
  expect(check_count).toBe(1)
})

test('a refinement of the whole receives the whole value', () => {
  const pair = z.strictObject({ low: z.number(), high: z.number() }).refine(({ low, high }) => low <= high)
  const before = { low: 1, high: 2 }
  expect(() => parseChange(pair, before, { ...before, low: 3 })).toThrow(z.ZodError)
})

// The payload of an observation is bounded in every direction, and has no attached guidance in it.
import { expect, test } from 'vitest'
import { boundPayload, cut_mark } from './bound-payload.ts'

test('small payloads stay as they are', () => {
  const payload = { tool: 'list', inputs: { limit: 5, tags: ['a', 'b'], at: null }, isFast: true }
  expect(boundPayload(payload)).toEqual(payload)
})

test('text, lists, objects and depth are cut with a mark', () => {
  const nested = Array.from({ length: 5_000 }).reduce<unknown>((inner) => ({ inner }), 'core')
  const bounded = boundPayload({
    text: 'x'.repeat(10_000_000),
    list: Array.from({ length: 100_000 }, (_, at) => at),
    members: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`m${at}`, at])),
    nested,
  })
  expect(String(bounded.text)).toHaveLength(8_192 + cut_mark.length)
  expect(bounded.list).toHaveLength(65)
  expect((bounded.list as unknown[]).at(-1)).toBe(cut_mark)
  expect(Object.keys(bounded.members as object)).toHaveLength(65)
  expect(JSON.stringify(bounded).length).toBeLessThan(65_536)
  expect(JSON.stringify(bounded.nested)).toContain(cut_mark)
})

test('many small values share one budget', () => {
  const wide = () => Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`m${at}`, 'y'.repeat(2_000)]))
  const bounded = boundPayload(Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`w${at}`, wide()])))
  expect(JSON.stringify(bounded).length).toBeLessThan(65_536)
})

test('members that would change the object, and guidance, are left out at any depth', () => {
  const payload = JSON.parse('{"__proto__": {"isAdmin": true}, "a": {"guide_guidance": {"artifacts": []}, "b": 1}}')
  const bounded = boundPayload({ ...payload, __proto__: null, inputs: payload, guide_guidance: 'x' })
  expect(bounded).toEqual({ a: { b: 1 }, inputs: { a: { b: 1 } } })
  expect(Object.getPrototypeOf(bounded)).toBe(Object.prototype)
  expect(({} as { isAdmin?: true }).isAdmin).toBeUndefined()
})

test('what is not an object becomes a member, and what JSON lacks is null', () => {
  expect(boundPayload('text')).toEqual({ value: 'text' })
  expect(boundPayload({ a: Number.NaN, b: undefined, c: 1n, e: '\ud800' })).toEqual({
    ...{ a: null, b: null, c: null, e: '\ufffd' },
  })
})

test('secrets are left out, by the name of their field and by their look, also where a text is cut', () => {
  const bounded = boundPayload({
    inputs: { password: 'hunter2', apiKey: 'k-123', accessToken: 'abc', tokens: 7, query: 'find maps' },
    outputs: ['Authorization: Bearer abcdefghijkl', 'postgres://ann:hunter2@db/maps'],
    text: `${'x'.repeat(8_100)} password=hunter2 ${'y'.repeat(9_000)}`,
  })
  expect(JSON.stringify(bounded)).not.toMatch(/hunter2|k-123|"abc"|abcdefghijkl/)
  expect(bounded.inputs).toMatchObject({ password: '[redacted]', tokens: 7, query: 'find maps' })
})

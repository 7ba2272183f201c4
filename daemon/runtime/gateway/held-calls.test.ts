// A held call goes on for its caller with the same terms, once; callers that hold many lose the one that waits for longest.
import { beforeEach, expect, test } from 'vitest'
import { systemRandom } from '../../../adapters/host/random/system-random.ts'
import { InputRequiredResult } from '../../kernel/tools/client-input.ts'
import { HeldCalls } from './held-calls.ts'

let held: HeldCalls<string>
let ended: string[]
beforeEach(() => {
  held = new HeldCalls(systemRandom())
  ended = []
})

function hold(caller: string, at: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => {
    ended.push(at)
    resolve()
  }
  const required = new InputRequiredResult({ one: { method: 'elicitation/create', params: {} } }, undefined)
  const { state, requests } = held.hold(caller, 'terms', required, {
    ...{ call: { ended: promise, end }, at },
    tool: { service: 'maps', name: at },
  })
  return { state, requests, finish: resolve }
}

test('a call goes on for its caller, with its terms, once', () => {
  const { state, requests } = hold('ann', 'a')
  expect(requests).toHaveProperty('one')
  expect(held.take('eve', 'terms', state)).toBeUndefined()
  expect(held.take('ann', 'other terms', state)).toBeUndefined()
  expect(held.take('ann', 'terms', undefined)).toBeUndefined()
  expect(held.take('ann', 'terms', state)?.at).toBe('a')
  expect(held.take('ann', 'terms', state)).toBeUndefined()
  expect(ended).toEqual([])
})

test('a call that has ended is not found', async () => {
  const { state, finish } = hold('ann', 'a')
  finish()
  await Promise.resolve()
  expect(held.take('ann', 'terms', state)).toBeUndefined()
})

test('a caller that holds many loses the one that waits for longest, and no other caller loses one', () => {
  const other = hold('bob', 'bob')
  const own = Array.from({ length: 9 }, (_, at) => hold('ann', `ann ${at}`))
  expect(ended).toEqual(['ann 0'])
  expect(held.take('ann', 'terms', own[1]?.state)?.at).toBe('ann 1')
  expect(held.take('bob', 'terms', other.state)?.at).toBe('bob')
})

test('of all callers together there is a limit', () => {
  for (let at = 0; at < 513; at += 1) hold(`caller ${at}`, `${at}`)
  expect(ended).toEqual(['0'])
})

test('all end with their owner', () => {
  hold('ann', 'a')
  hold('bob', 'b')
  held.close()
  expect(ended).toEqual(['a', 'b'])
})

test('those of a tool end with it, and others wait on', () => {
  hold('ann', 'route')
  const other = hold('ann', 'tile')
  held.endOf(({ service, name }) => service === 'maps' && name === 'route')
  expect(ended).toEqual(['route'])
  expect(held.take('ann', 'terms', other.state)?.at).toBe('tile')
})

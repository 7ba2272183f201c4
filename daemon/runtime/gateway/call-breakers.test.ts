// One caller cannot open the breaker of a service for others, whatever it does; a service that nobody reaches is spared by all.
import { beforeEach, expect, test } from 'vitest'
import { CallBreakers, type FailedStage } from './call-breakers.ts'

let now: number
let breakers: CallBreakers
let url: string
beforeEach(() => {
  now = 0
  url = 'http://one.example/mcp'
  breakers = new CallBreakers(() => now)
})

function end(service: string, caller: string, outcome: 'succeed' | 'leave' | FailedStage): number | 'admitted' {
  const admitted = breakers.admit({ service, url, caller })
  if (typeof admitted === 'number') return admitted
  if (outcome === 'succeed' || outcome === 'leave') admitted[outcome]()
  else admitted.fail(outcome)
  return 'admitted'
}
const repeat = (times: number, service: string, caller: string, stage: FailedStage) => {
  for (let at = 0; at < times; at += 1) end(service, caller, stage)
}

test.each<FailedStage>(['call', 'connection'])('failures of one caller by %s open its own alone', (stage) => {
  repeat(50, 'maps', 'eve', stage)
  expect(end('maps', 'eve', 'succeed')).toBe(5_000)
  expect(end('maps', 'ann', 'succeed')).toBe('admitted')
  expect(end('other', 'eve', 'succeed')).toBe('admitted')
  expect([...breakers.listOpen()]).toEqual([['maps', { isOpen: false, callers: 1 }]])
})

test('failed calls of many callers open none for others', () => {
  for (let at = 0; at < 100; at += 1) repeat(5, 'maps', `caller-${at}`, 'call')
  expect(end('maps', 'ann', 'succeed')).toBe('admitted')
})

test('connections that failed for five callers open that of the service, until one succeeds', () => {
  for (const caller of ['a', 'b', 'c', 'd', 'a', 'b']) end('maps', caller, 'connection')
  expect(end('maps', 'ann', 'leave')).toBe('admitted')
  end('maps', 'e', 'connection')
  expect(end('maps', 'ann', 'succeed')).toBe(5_000)
  expect(breakers.listOpen().get('maps')).toEqual({ isOpen: true, callers: 0 })
  now = 5_000
  end('maps', 'e', 'connection')
  expect(end('maps', 'ann', 'succeed')).toBe(10_000)
  now = 15_000
  expect(end('maps', 'ann', 'succeed')).toBe('admitted')
  expect(breakers.listOpen().size).toBe(0)
})

test('a success between them begins the count again', () => {
  for (const caller of ['a', 'b', 'c', 'd']) end('maps', caller, 'connection')
  end('maps', 'ann', 'succeed')
  for (const caller of ['a', 'b', 'c', 'd']) end('maps', caller, 'connection')
  expect(end('maps', 'ann', 'succeed')).toBe('admitted')
})

test('a connection that opens ends the open state, also where its call fails', () => {
  for (const caller of ['a', 'b', 'c', 'd', 'e']) end('maps', caller, 'connection')
  now = 5_000
  expect(end('maps', 'ann', 'call')).toBe('admitted')
  expect(end('maps', 'bob', 'succeed')).toBe('admitted')
})

test('a caller that must wait takes no attempt of the service', () => {
  for (const caller of ['a', 'b', 'c', 'd', 'e']) end('maps', caller, 'connection')
  now = 5_000
  repeat(6, 'other', 'ann', 'call')
  expect(end('maps', 'ann', 'leave')).toBe('admitted')
  expect(end('maps', 'bob', 'succeed')).toBe('admitted')
})

test('callers beyond the bound push out the one not used for longest', () => {
  repeat(5, 'maps', 'eve', 'call')
  for (let at = 0; at < 1_024; at += 1) end('maps', `caller-${at}`, 'succeed')
  expect(breakers.listOpen().size).toBe(0)
  expect(end('maps', 'eve', 'succeed')).toBe('admitted')
})

test('a service at another URL begins with closed ones', () => {
  repeat(5, 'maps', 'eve', 'call')
  url = 'http://two.example/mcp'
  expect(end('maps', 'eve', 'succeed')).toBe('admitted')
  expect(breakers.listOpen().size).toBe(0)
})

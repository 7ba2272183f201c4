// Sessions end in time and in number, and are nobody's but their caller's.
import { beforeEach, expect, test } from 'vitest'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import { McpSessions } from './mcp-sessions.ts'

let now = 0
let drawn_count = 0
beforeEach(() => {
  now = 0
  drawn_count = 0
})

const createSessions = () =>
  new McpSessions(
    { per_caller: 3, idle_ms: 100, age_ms: 1_000 },
    () => now,
    (bytes) => (++drawn_count).toString(16).padStart(bytes * 2, '0'),
  )
const callerNamed = (subject: string, tenant_id = 't'): Caller => ({
  subject,
  tenant_id,
  roles: [],
  permissions: new Set(),
  clearance: undefined,
})
const ann = callerNamed('ann')

test('a session is found by its caller alone', () => {
  const held = createSessions()
  const id = held.open(ann, '2025-11-25')
  expect(id).toHaveLength(64)
  expect(held.find(id, callerNamed('ann'))?.revision).toBe('2025-11-25')
  for (const other of [callerNamed('bob'), callerNamed('ann', 'u'), callerNamed('', 'ann')]) {
    expect(held.find(id, other)).toBeUndefined()
    expect(held.end(id, other)).toBe(false)
  }
  expect(held.end(id, ann)).toBe(true)
  expect(held.find(id, ann)).toBeUndefined()
  expect(held.end(id, ann)).toBe(false)
})

test('it ends when it is not used, and after its age however much it is used', () => {
  const held = createSessions()
  const idle = held.open(ann, 'r')
  now = 99
  expect(held.find(idle, ann)).toBeDefined()
  now = 199
  expect(held.find(idle, ann)).toBeUndefined()
  const busy = held.open(ann, 'r')
  for (now = 250; now < 1_199; now += 50) expect(held.find(busy, ann)).toBeDefined()
  now = 1_199
  expect(held.find(busy, ann)).toBeUndefined()
  expect(held.size).toBe(0)
})

test('while something runs in it, it is not idle', () => {
  const held = createSessions()
  const id = held.open(ann, 'r')
  held.find(id, ann)?.running.set(1, new AbortController())
  now = 500
  expect(held.find(id, ann)).toBeDefined()
})

test('one too many ends the one not used for longest, and nobody else’s', () => {
  const held = createSessions()
  const bobs = held.open(callerNamed('bob'), 'r')
  const [first = '', second = '', third = ''] = [1, 2, 3].map(() => held.open(ann, 'r'))
  held.find(first, ann)
  const fourth = held.open(ann, 'r')
  expect([first, second, third, fourth].map((id) => held.find(id, ann) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
  expect(held.find(bobs, callerNamed('bob'))).toBeDefined()
})

test('sessions that are over are forgotten when another is opened', () => {
  const held = createSessions()
  for (const name of ['bob', 'eve']) held.open(callerNamed(name), 'r')
  now = 100
  held.open(ann, 'r')
  expect(held.size).toBe(1)
})

test('what runs in a session is cancelled by its id, and all of it with the session', () => {
  const held = createSessions()
  const id = held.open(ann, 'r')
  const session = held.find(id, ann)
  const [one, two] = [new AbortController(), new AbortController()]
  session?.running.set(1, one).set('1', two)
  for (const nothing of [2, null, undefined, {}, true]) session?.cancel(nothing)
  session?.cancel(1)
  expect([one.signal.aborted, two.signal.aborted]).toEqual([true, false])
  held.end(id, ann)
  expect(two.signal.reason).toMatchObject({ code: 'timeout' })
})

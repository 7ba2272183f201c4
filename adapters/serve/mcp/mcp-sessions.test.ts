// MCP sessions: limits in time and number, and access for their own caller alone.
import { beforeEach, expect, test } from 'vitest'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import { McpSessions } from './mcp-sessions.ts'

let now = 0
let random_count = 0
beforeEach(() => {
  now = 0
  random_count = 0
})

const createSessions = () =>
  new McpSessions(
    { per_caller: 3, idle_ms: 100, age_ms: 1_000 },
    () => now,
    (bytes) => (++random_count).toString(16).padStart(bytes * 2, '0'),
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
  const sessions = createSessions()
  const id = sessions.open(ann, '2025-11-25', {})
  expect(id).toHaveLength(64)
  expect(sessions.find(id, callerNamed('ann'))?.revision).toBe('2025-11-25')
  for (const other of [callerNamed('bob'), callerNamed('ann', 'u'), callerNamed('', 'ann')]) {
    expect(sessions.find(id, other)).toBeUndefined()
    expect(sessions.end(id, other)).toBe(false)
  }
  expect(sessions.end(id, ann)).toBe(true)
  expect(sessions.find(id, ann)).toBeUndefined()
  expect(sessions.end(id, ann)).toBe(false)
})

test('a session ends when idle, and at its maximum age even in use', () => {
  const sessions = createSessions()
  const idle = sessions.open(ann, 'r', {})
  now = 99
  expect(sessions.find(idle, ann)).toBeDefined()
  now = 199
  expect(sessions.find(idle, ann)).toBeUndefined()
  const busy = sessions.open(ann, 'r', {})
  for (now = 250; now < 1_199; now += 50) expect(sessions.find(busy, ann)).toBeDefined()
  now = 1_199
  expect(sessions.find(busy, ann)).toBeUndefined()
  expect(sessions.size).toBe(0)
})

test('a session with a running request is not idle', () => {
  const sessions = createSessions()
  const id = sessions.open(ann, 'r', {})
  sessions.find(id, ann)?.running.set(1, new AbortController())
  now = 500
  expect(sessions.find(id, ann)).toBeDefined()
})

test('a session above the limit ends the least recently used one of the same caller', () => {
  const sessions = createSessions()
  const bobs = sessions.open(callerNamed('bob'), 'r', {})
  const [first = '', second = '', third = ''] = [1, 2, 3].map(() => sessions.open(ann, 'r', {}))
  sessions.find(first, ann)
  const fourth = sessions.open(ann, 'r', {})
  expect([first, second, third, fourth].map((id) => sessions.find(id, ann) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
  expect(sessions.find(bobs, callerNamed('bob'))).toBeDefined()
})

test('expired sessions are removed when another is opened', () => {
  const sessions = createSessions()
  for (const name of ['bob', 'eve']) sessions.open(callerNamed(name), 'r', {})
  now = 100
  sessions.open(ann, 'r', {})
  expect(sessions.size).toBe(1)
})

test('a running request is cancelled by its id, and all requests with the session', () => {
  const sessions = createSessions()
  const id = sessions.open(ann, 'r', {})
  const session = sessions.find(id, ann)
  const [one, two] = [new AbortController(), new AbortController()]
  session?.running.set(1, one).set('1', two)
  for (const nothing of [2, null, undefined, {}, true]) session?.cancel(nothing)
  session?.cancel(1)
  expect([one.signal.aborted, two.signal.aborted]).toEqual([true, false])
  sessions.end(id, ann)
  expect(two.signal.reason).toMatchObject({ code: 'timeout' })
})

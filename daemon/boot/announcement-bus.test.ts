// Announcements within a process: none is lost, streams end when aborted, and no listener remains.
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { announcementBus } from './announcement-bus.ts'

const long_ms = 600_000

/** Reads a stream of changes by hand; `ended` tells whether it has. */
function openReader(announcements = announcementBus(), at_least_every_ms = long_ms) {
  const stopping = new AbortController()
  const changes = announcements.changes('topic', stopping.signal, at_least_every_ms)[Symbol.asyncIterator]()
  const next = async () => ((await changes.next()).done ? 'ended' : 'changed')
  return {
    announcements,
    stopping,
    next,
    leave: () => changes.return?.(),
    listeners: () => countAbortListeners(stopping),
  }
}

const countAbortListeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length

describe('a stream of changes', () => {
  test('yields at once, for what happened before anybody looked', async () => {
    expect(await openReader().next()).toBe('changed')
  })

  test('yields what is announced while its reader is busy, and several of them once', async () => {
    const { announcements, next, stopping } = openReader()
    await next()
    announcements.announce('topic')
    announcements.announce('topic')
    expect(await next()).toBe('changed')
    const waiting = next()
    stopping.abort()
    expect(await waiting).toBe('ended')
  })

  test('wakes a reader that waits', async () => {
    const { announcements, next } = openReader()
    await next()
    const waiting = next()
    announcements.announce('topic')
    expect(await waiting).toBe('changed')
  })

  test('yields by itself when nothing is announced for long', async () => {
    const { next } = openReader(announcementBus(), 1)
    expect([await next(), await next(), await next()]).toEqual(['changed', 'changed', 'changed'])
  })

  test('hears nothing of other topics', async () => {
    const { announcements, next, stopping } = openReader()
    await next()
    const waiting = next()
    announcements.announce('another')
    stopping.abort()
    expect(await waiting).toBe('ended')
  })

  test('never begins when it is over already', async () => {
    const { stopping, next } = openReader()
    stopping.abort()
    expect(await next()).toBe('ended')
  })
})

test('one announcement wakes every reader of the topic, also after another has left', async () => {
  const announcements = announcementBus()
  const [one, two, three] = [openReader(announcements), openReader(announcements), openReader(announcements)]
  await Promise.all([one.next(), two.next(), three.next()])
  await one.leave()
  const waiting = [two.next(), three.next()]
  announcements.announce('topic')
  expect(await Promise.all(waiting)).toEqual(['changed', 'changed'])
  await two.leave()
  const last = three.next()
  announcements.announce('topic')
  expect(await last).toBe('changed')
})

test('a reader that follows each announcement ends with the last state, in any interleaving', async () => {
  const { announcements, next, stopping } = openReader()
  let state = 0
  let seen = -1
  const follow = async () => {
    while ((await next()) === 'changed') {
      seen = state
      await Promise.resolve()
    }
  }
  const following = follow()
  for (; state < 100; state++) {
    announcements.announce('topic')
    if (state % 3 === 0) await Promise.resolve()
    if (state % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  announcements.announce('topic')
  await expect.poll(() => seen).toBe(100)
  stopping.abort()
  await following
})

test.each(['aborted', 'left'])('a stream that is %s leaves no listener', async (how) => {
  const { next, stopping, leave, listeners } = openReader()
  await next()
  expect(listeners()).toBe(1)
  if (how === 'aborted') {
    const waiting = next()
    stopping.abort()
    await waiting
  } else await leave()
  expect(listeners()).toBe(0)
})

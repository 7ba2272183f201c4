// The process may die between any two steps: whatever was done is found again, and no effect happens twice.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Journal } from '../../../daemon/kernel/journal.ts'
import type { Incoming, Verdict } from '../../../daemon/kernel/transport.ts'
import { aTrace } from '../../support/a-trace.ts'
import { drop, forge } from './forged.ts'
import {
  carry,
  incomingOf,
  message,
  quarantineOf,
  restart,
  sendFromAlpha,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

let world: World
beforeEach(async () => {
  world = await twoSites()
})
afterEach(() => world.dispose())

/** The effect as the roles make it: the message's id is stored with it, so that a repeat changes nothing. */
function effects() {
  const seen: string[] = []
  const deliver = ({ statement: { msg_id } }: Incoming): Verdict => {
    if (!seen.includes(msg_id)) seen.push(msg_id)
    return { verdict: 'applied' }
  }
  return { seen, deliver }
}

/** A journal whose step fails the given number of times, before or after it has happened. */
function failing(journal: Journal, step: keyof Journal, when: 'before' | 'after', times = 1): Journal {
  let left = times
  return new Proxy(journal, {
    get(target, name, self) {
      const original = Reflect.get(target, name, self) as (...given: unknown[]) => Promise<unknown>
      if (name !== step) return original
      return async (...given: unknown[]) => {
        if (left > 0 && when === 'before') return died(left--)
        const answer = await original(...given)
        if (left > 0) return died(left--)
        return answer
      }
    },
  })
}

function died(_left: number): never {
  throw new Error('the process died here')
}

const receiving: readonly [keyof Journal, 'before' | 'after'][] = [
  ['receive', 'before'],
  ['receive', 'after'],
  ['settle', 'before'],
  ['settle', 'after'],
]

test.each(receiving)('a death at %s, %s it: applied once, and done', async (step, when) => {
  const { seen, deliver } = effects()
  await startReceiving(world.bravo, deliver)
  await restart(world.bravo, deliver, {}, { journal: failing(world.bravo.journal, step, when) })
  await sendFromAlpha(world, 2)
  carry(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  await restart(world.bravo, deliver)
  expect(seen).toHaveLength(2)
  const { work, done } = incomingOf(world.bravo, 'alpha')
  expect(fs.readdirSync(work)).toEqual([])
  expect(fs.readdirSync(done)).toHaveLength(4)
  expect((await world.bravo.transport.status())[1]).toMatchObject({ received: 2, duplicates: 0, quarantined: 0 })
  const audited = await world.bravo.audit.list({ action: 'filedrop.message.applied', limit: 9 })
  expect(audited).toHaveLength(2)
})

test.each([
  ['append', 'before'],
  ['append', 'after'],
] as const)('a death at %s, %s it: the repeated event has one number, and the next one follows', async (step, when) => {
  await startReceiving(world.alpha)
  await restart(world.alpha, undefined, {}, { journal: failing(world.alpha.journal, step, when) })
  const first = message(world)
  await expect(world.alpha.transport.send(first, aTrace)).rejects.toThrow()
  await restart(world.alpha)
  expect(await world.alpha.transport.send(first, aTrace)).toMatchObject({ seq: 1 })
  expect(await world.alpha.transport.send(message(world), aTrace)).toMatchObject({ seq: 2 })
})

test.each([
  ['body', 'work'],
  ['env', 'work'],
  ['env', 'done'],
  ['body', 'done'],
] as const)('a death after only the %s moved to %s: the other half follows', async (part, place) => {
  const { seen, deliver } = effects()
  await startReceiving(world.bravo, deliver)
  const { stem, ...forged } = await forge(world)
  drop(world, { stem, ...forged })
  const { fresh, work, done } = incomingOf(world.bravo, 'alpha')
  if (place === 'done') {
    await world.bravo.transport.rescan()
    const other = part === 'env' ? 'body' : 'env'
    fs.renameSync(join(done, `${stem}.${other}.json`), join(work, `${stem}.${other}.json`))
  } else {
    fs.renameSync(join(fresh, `${stem}.${part}.json`), join(work, `${stem}.${part}.json`))
  }
  await restart(world.bravo, deliver)
  expect(seen).toHaveLength(1)
  expect(fs.readdirSync(work)).toEqual([])
  expect(fs.readdirSync(done)).toHaveLength(2)
})

test('a death halfway into quarantine: the other half follows', async () => {
  await startReceiving(world.bravo)
  const forged = await forge(world, { placed: 'other bytes, many enough to be whole'.padEnd(600) })
  drop(world, forged)
  await world.bravo.transport.rescan()
  const { work, quarantine } = incomingOf(world.bravo, 'alpha')
  const [env] = fs.readdirSync(quarantine).filter((name) => name.endsWith('.env.json'))
  fs.renameSync(join(quarantine, env ?? ''), join(work, `${forged.stem}.env.json`))
  await restart(world.bravo)
  expect(fs.readdirSync(work)).toEqual([])
  expect(fs.readdirSync(quarantine)).toContain(env)
  expect(quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['BODY_DIGEST'])
})

test('a process that dies three times on one message gives it up at the fourth start', async () => {
  await startReceiving(world.bravo)
  const { stem, envelope, body } = await forge(world)
  const { work } = incomingOf(world.bravo, 'alpha')
  fs.writeFileSync(join(work, `${stem}.body.json`), body)
  fs.writeFileSync(join(work, `${stem}.env.json`), envelope)
  // Each of these is a start that found the message in work and was killed before its end.
  for (let i = 0; i < 2; i++) await world.bravo.journal.failed('filedrop/alpha/bravo', 1, 1)
  await restart(world.bravo)
  expect(world.bravo.received).toEqual([])
  expect(quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['POISON'])
})

test('to be put off is no attempt, even where a single one is granted', async () => {
  let isDown = true
  const answer = (): Verdict => (isDown ? { verdict: 'later', detail: 'not now' } : { verdict: 'applied' })
  await startReceiving(world.bravo)
  await restart(world.bravo, answer, { max_attempts: 1 })
  drop(world, await forge(world))
  for (let i = 0; i < 3; i++) await world.bravo.transport.rescan()
  isDown = false
  await world.bravo.transport.rescan()
  expect(world.bravo.received).toHaveLength(1)
})

test('while the store is down intake pauses, nothing is lost, and no attempt is counted', async () => {
  let isDown = true
  const answer = (): Verdict => (isDown ? { verdict: 'later', detail: 'the store is down' } : { verdict: 'applied' })
  await startReceiving(world.bravo, answer)
  await sendFromAlpha(world, 3)
  carry(world.alpha, world.bravo)
  for (let i = 0; i < 5; i++) {
    await world.bravo.transport.rescan()
    await restart(world.bravo, answer)
  }
  expect((await world.bravo.transport.status())[1]).toMatchObject({ received: 0, backlog: 3, quarantined: 0 })
  expect((await world.bravo.transport.health()).detail).toContain('the store is down')
  isDown = false
  await world.bravo.transport.rescan()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 2, 3])
  expect(await world.bravo.transport.health()).toEqual({ ok: true, detail: '' })
})

test('what was fresh when it was taken in does not expire while this site cannot apply it', async () => {
  let isDown = true
  const answer = (): Verdict => (isDown ? { verdict: 'later', detail: 'not now' } : { verdict: 'applied' })
  await startReceiving(world.bravo, answer)
  drop(world, await forge(world))
  await world.bravo.transport.rescan()
  isDown = false
  world.clock.ms += 30 * 86_400_000
  await restart(world.bravo, answer)
  expect(world.bravo.received).toHaveLength(1)
})

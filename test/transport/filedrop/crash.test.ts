// The process may die between any two steps: finished work is found again, and no effect happens twice.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Journal } from '../../../daemon/kernel/messaging/journal.ts'
import type { DeliveryVerdict, InboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import {
  buildMessage,
  carryFiles,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest as test } from '../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../support/filedrop/forge-message.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

/** The effect as the roles make it: the message's id is stored with it, so that a repeat changes nothing. */
function createEffects() {
  const seen: string[] = []
  const deliver = ({ statement: { msg_id } }: InboundMessage): DeliveryVerdict => {
    if (!seen.includes(msg_id)) seen.push(msg_id)
    return { verdict: 'applied' }
  }
  return { seen, deliver }
}

/** A journal whose step fails this number of times, before or after it has happened. */
function createFailingJournal(journal: Journal, step: keyof Journal, when: 'before' | 'after', times = 1): Journal {
  let left = times
  return new Proxy(journal, {
    get(target, name, self) {
      const original = Reflect.get(target, name, self) as (...args: unknown[]) => Promise<unknown>
      if (name !== step) return original
      return async (...args: unknown[]) => {
        if (left > 0 && when === 'before') return throwDied(left--)
        const answer = await original(...args)
        if (left > 0) return throwDied(left--)
        return answer
      }
    },
  })
}

function throwDied(_left: number): never {
  throw new Error('the process died here')
}

const receiveSteps: readonly [keyof Journal, 'before' | 'after'][] = [
  ['receive', 'before'],
  ['receive', 'after'],
  ['recordOutcomes', 'before'],
  ['recordOutcomes', 'after'],
]

test.for(receiveSteps)('a death at %s, %s it: applied once, and done', async ([step, when], { sites }) => {
  const { seen, deliver } = createEffects()
  await startReceiving(sites.bravo, deliver)
  await restartSite(sites.bravo, deliver, {}, { journal: createFailingJournal(sites.bravo.journal, step, when) })
  await sendFromAlpha(sites, 2)
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  await restartSite(sites.bravo, deliver)
  expect(seen).toHaveLength(2)
  const { work, done } = listChannelFolders(sites.bravo, 'alpha')
  expect(fs.readdirSync(work)).toEqual([])
  expect(fs.readdirSync(done)).toHaveLength(4)
  expect((await sites.bravo.transport.status())[1]).toMatchObject({ received: 2, duplicates: 0, quarantined: 0 })
  const audited = await sites.bravo.audit.list({ action: 'filedrop.message.applied', limit: 9 })
  expect(audited).toHaveLength(2)
})

test.for([
  ['append', 'before'],
  ['append', 'after'],
] as const)(
  'a death at %s, %s it: the repeated event has one number, and the next one follows',
  async ([step, when], { sites }) => {
    await startReceiving(sites.alpha)
    await restartSite(sites.alpha, undefined, {}, { journal: createFailingJournal(sites.alpha.journal, step, when) })
    const first = buildMessage(sites)
    await expect(sites.alpha.transport.send(first, sampleTrace)).rejects.toThrow()
    await restartSite(sites.alpha)
    expect(await sites.alpha.transport.send(first, sampleTrace)).toMatchObject({ seq: 1 })
    expect(await sites.alpha.transport.send(buildMessage(sites), sampleTrace)).toMatchObject({ seq: 2 })
  },
)

test.for([
  ['body', 'work'],
  ['env', 'work'],
  ['env', 'done'],
  ['body', 'done'],
] as const)('a death after only the %s moved to %s: the other half follows', async ([part, place], { sites }) => {
  const { seen, deliver } = createEffects()
  await startReceiving(sites.bravo, deliver)
  const { stem, ...forged } = await forgeMessage(sites)
  dropMessage(sites, { stem, ...forged })
  const { fresh, work, done } = listChannelFolders(sites.bravo, 'alpha')
  if (place === 'done') {
    await sites.bravo.transport.rescan()
    const other = part === 'env' ? 'body' : 'env'
    fs.renameSync(join(done, `${stem}.${other}.json`), join(work, `${stem}.${other}.json`))
  } else {
    fs.renameSync(join(fresh, `${stem}.${part}.json`), join(work, `${stem}.${part}.json`))
  }
  await restartSite(sites.bravo, deliver)
  expect(seen).toHaveLength(1)
  expect(fs.readdirSync(work)).toEqual([])
  expect(fs.readdirSync(done)).toHaveLength(2)
})

test('a death halfway into quarantine: the other half follows', async ({ sites }) => {
  await startReceiving(sites.bravo)
  const forged = await forgeMessage(sites, { placed: 'other bytes, many enough to be whole'.padEnd(600) })
  dropMessage(sites, forged)
  await sites.bravo.transport.rescan()
  const { work, quarantine } = listChannelFolders(sites.bravo, 'alpha')
  const [env] = fs.readdirSync(quarantine).filter((name) => name.endsWith('.env.json'))
  fs.renameSync(join(quarantine, env ?? ''), join(work, `${forged.stem}.env.json`))
  await restartSite(sites.bravo)
  expect(fs.readdirSync(work)).toEqual([])
  expect(fs.readdirSync(quarantine)).toContain(env)
  expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['BODY_DIGEST'])
})

test('a process that dies three times on one message gives it up at the fourth start', async ({ sites }) => {
  await startReceiving(sites.bravo)
  const { stem, envelope, body } = await forgeMessage(sites)
  const { work } = listChannelFolders(sites.bravo, 'alpha')
  fs.writeFileSync(join(work, `${stem}.body.json`), body)
  fs.writeFileSync(join(work, `${stem}.env.json`), envelope)
  // Each of these is a start that found the message in work and was killed before its end.
  for (let i = 0; i < 2; i++) await sites.bravo.journal.countFailure('filedrop/alpha/bravo', 1, 1)
  await restartSite(sites.bravo)
  expect(sites.bravo.received).toEqual([])
  expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['POISON'])
})

test('a postponement is not an attempt, even with a single one allowed', async ({ sites }) => {
  let isDown = true
  const answer = (): DeliveryVerdict => (isDown ? { verdict: 'later', detail: 'not now' } : { verdict: 'applied' })
  await startReceiving(sites.bravo)
  await restartSite(sites.bravo, answer, { max_attempts: 1 })
  dropMessage(sites, await forgeMessage(sites))
  for (let i = 0; i < 3; i++) await sites.bravo.transport.rescan()
  isDown = false
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received).toHaveLength(1)
})

test('while the store is down intake pauses, nothing is lost, and no attempt is counted', async ({ sites }) => {
  let isDown = true
  const answer = (): DeliveryVerdict =>
    isDown ? { verdict: 'later', detail: 'the store is down' } : { verdict: 'applied' }
  await startReceiving(sites.bravo, answer)
  await sendFromAlpha(sites, 3)
  carryFiles(sites.alpha, sites.bravo)
  for (let i = 0; i < 5; i++) {
    await sites.bravo.transport.rescan()
    await restartSite(sites.bravo, answer)
  }
  expect((await sites.bravo.transport.status())[1]).toMatchObject({ received: 0, backlog: 3, quarantined: 0 })
  expect((await sites.bravo.transport.health()).detail).toContain('the store is down')
  isDown = false
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 2, 3])
  expect(await sites.bravo.transport.health()).toEqual({ ok: true, detail: '' })
})

test('a message fresh at its intake does not expire while this site cannot apply it', async ({ sites }) => {
  let isDown = true
  const answer = (): DeliveryVerdict => (isDown ? { verdict: 'later', detail: 'not now' } : { verdict: 'applied' })
  await startReceiving(sites.bravo, answer)
  dropMessage(sites, await forgeMessage(sites))
  await sites.bravo.transport.rescan()
  isDown = false
  sites.clock.ms += 30 * 86_400_000
  await restartSite(sites.bravo, answer)
  expect(sites.bravo.received).toHaveLength(1)
})

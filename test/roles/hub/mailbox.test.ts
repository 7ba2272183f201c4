// Mailboxes: durable before they acknowledge, read by their owner alone, bounded for each sender, emptied by acknowledgement.
import { expect, test } from 'vitest'
import { acknowledge } from '../../../daemon/roles/hub/message/acknowledge.ts'
import { deliver } from '../../../daemon/roles/hub/message/deliver.ts'
import { list } from '../../../daemon/roles/hub/message/list.ts'
import { register } from '../../../daemon/roles/hub/node/register.ts'
import { readEvents } from '../../support/event-reader.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/site-world.ts'
import { about, mailOf, sharedHub } from './hub-world.ts'

const world = sharedHub({ mailbox_messages: 5, mailbox_bytes: 2_000, max_message_bytes: 1_500, message_days: 2 })

const send = (person: Person, from: string, id: string, mail: ReturnType<typeof mailOf>) =>
  person.ok(deliver, { id, from, ...mail })

/** All that waits for bravo from a sender, page by page. */
async function waiting(from = 'alpha', limit = 2) {
  const bravo = await world().as('bravo')
  const items: { id: string; epoch: number; seq: number; envelope: string; body: string }[] = []
  let cursor: string | undefined
  do {
    const page = await bravo.ok(list, { id: 'bravo', from, limit, ...(cursor ? { cursor } : {}) })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor)
  return items
}

async function emptied(): Promise<void> {
  const bravo = await world().as('bravo')
  for (const from of ['alpha', 'charlie']) {
    const messages = (await waiting(from)).map(({ id }) => id)
    if (messages.length > 0) await bravo.ok(acknowledge, { id: 'bravo', messages })
  }
}

test('what was delivered waits in the order of its numbers, through a restart, until it is acknowledged', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const mails = [mailOf(10), mailOf(2), mailOf(1, 'second epoch', 2)]
  const ids = []
  for (const mail of mails) ids.push((await send(alpha, 'alpha', 'bravo', mail)).id)
  expect(await send(alpha, 'alpha', 'bravo', mails[0] ?? mailOf(10))).toEqual({ id: ids[0] })
  await world().site.restart()
  const found = await waiting()
  expect(found.map(({ epoch, seq }) => [epoch, seq])).toEqual([
    [1, 2],
    [1, 10],
    [2, 1],
  ])
  expect(found[0]).toMatchObject(mailOf(2))
  expect(await bravo.ok(acknowledge, { id: 'bravo', messages: [ids[1] ?? ''] })).toEqual({ removed: 1 })
  expect(await bravo.ok(acknowledge, { id: 'bravo', messages: [...ids, 'mail_of_nobody'] })).toEqual({ removed: 2 })
  expect(await bravo.ok(acknowledge, { id: 'bravo', messages: ids })).toEqual({ removed: 0 })
  expect(await waiting()).toEqual([])
})

test('other bytes under a number stand beside the first: the receiver judges', async () => {
  const alpha = await world().as('alpha')
  await send(alpha, 'alpha', 'bravo', mailOf(1))
  await send(alpha, 'alpha', 'bravo', mailOf(1, 'other words'))
  expect(await waiting()).toHaveLength(2)
  await emptied()
})

test('a flood fills its own place only, by number and by bytes, and is told to wait', async () => {
  const [alpha, charlie] = [await world().as('alpha'), await world().as('charlie')]
  await charlie.ok(register, { id: 'charlie', ...about('charlie') })
  for (let seq = 1; seq <= 5; seq++) await send(alpha, 'alpha', 'bravo', mailOf(seq))
  expect(await alpha.refusal(deliver, { id: 'bravo', from: 'alpha', ...mailOf(6) })).toBe('rate_limited')
  // What lies there already is no more of it.
  await send(alpha, 'alpha', 'bravo', mailOf(5))
  await send(charlie, 'charlie', 'bravo', mailOf(1))
  await emptied()
  await send(alpha, 'alpha', 'bravo', mailOf(1, 'x'.repeat(1_200)))
  expect(await alpha.refusal(deliver, { id: 'bravo', from: 'alpha', ...mailOf(2, 'y'.repeat(1_200)) })).toBe(
    'rate_limited',
  )
  expect(await alpha.refusal(deliver, { id: 'bravo', from: 'alpha', ...mailOf(2, 'y'.repeat(1_600)) })).toBe(
    'too_large',
  )
  await emptied()
})

test('nobody but its owner takes from a mailbox, and nothing of another is acknowledged away', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const { id } = await send(alpha, 'alpha', 'bravo', mailOf(1))
  expect(await alpha.ok(acknowledge, { id: 'alpha', messages: [id] })).toEqual({ removed: 0 })
  expect((await alpha.ok(list, { id: 'alpha', from: 'alpha' })).items).toEqual([])
  expect(await alpha.refusal(list, { id: 'bravo', from: 'alpha' })).toBe('forbidden')
  const stream = await readEvents(world().site.url('hub'), '/api/v2/hub/node/bravo/message/events', alpha.token)
  expect(stream.status).toBe(403)
  expect(await waiting()).toHaveLength(1)
  expect(await bravo.refusal(list, { id: 'bravo', from: 'Not A Name' })).toBe('invalid')
  await emptied()
})

test('what is no base64, or has no number, is refused', async () => {
  const alpha = await world().as('alpha')
  const wrong = [{ body: 'a b=' }, { body: 'abc' }, { envelope: '====' }, { seq: 0 }, { epoch: 1.5 }]
  for (const each of wrong) {
    expect(await alpha.refusal(deliver, { id: 'bravo', from: 'alpha', ...mailOf(1), ...each })).toBe('invalid')
  }
})

test('a node is woken when something waits for it', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const reader = await readEvents(world().site.url('hub'), '/api/v2/hub/node/bravo/message/events', bravo.token)
  await until(() => reader.seen.length === 1)
  expect(reader.seen[0]).toMatchObject({ event: 'mail', data: { waiting: 0 } })
  await send(alpha, 'alpha', 'bravo', mailOf(1))
  await until(() => reader.seen.length > 1)
  expect(reader.seen[1]).toMatchObject({ event: 'mail', data: { waiting: 1 } })
  reader.leave()
  await emptied()
})

test('a message that nobody took in its days is gone', async () => {
  const alpha = await world().as('alpha')
  await send(alpha, 'alpha', 'bravo', mailOf(1))
  world().site.clock.advance(2 * 86_400_000)
  world().site.wake('hub', 'sweep')
  await until(async () => (await waiting()).length === 0)
})

// Mailboxes: durable, read by their owner alone, bounded for each sender, and emptied by acknowledgement.
import { expect, test } from 'vitest'
import { acknowledge } from '../../../daemon/roles/hub/message/acknowledge.ts'
import { deliver } from '../../../daemon/roles/hub/message/deliver.ts'
import { list } from '../../../daemon/roles/hub/message/list.ts'
import { register } from '../../../daemon/roles/hub/node/register.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { openEventReader } from '../../support/http/event-reader.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildMail, buildRegistration, setUpHubSite } from './hub-site.ts'

const world = setUpHubSite({ mailbox_messages: 5, mailbox_bytes: 2_000, max_message_bytes: 1_500, message_days: 2 })

const deliverMail = (person: CheckedClient, from: string, id: string, mail: ReturnType<typeof buildMail>) =>
  person.ok(deliver, { id, from, ...mail })

/** All that waits for bravo from a sender, page by page. */
async function listWaiting(from = 'alpha', limit = 2) {
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

async function emptyMailbox(): Promise<void> {
  const bravo = await world().as('bravo')
  for (const from of ['alpha', 'charlie']) {
    const messages = (await listWaiting(from)).map(({ id }) => id)
    if (messages.length > 0) await bravo.ok(acknowledge, { id: 'bravo', messages })
  }
}

test('delivered messages wait in the order of their numbers, through a restart, until they are acknowledged', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const mails = [buildMail(10), buildMail(2), buildMail(1, 'second epoch', 2)]
  const ids = []
  for (const mail of mails) ids.push((await deliverMail(alpha, 'alpha', 'bravo', mail)).id)
  expect(await deliverMail(alpha, 'alpha', 'bravo', mails[0] ?? buildMail(10))).toEqual({ id: ids[0] })
  await world().site.restart()
  const found = await listWaiting()
  expect(found.map(({ epoch, seq }) => [epoch, seq])).toEqual([
    [1, 2],
    [1, 10],
    [2, 1],
  ])
  expect(found[0]).toMatchObject(buildMail(2))
  expect(await bravo.ok(acknowledge, { id: 'bravo', messages: [ids[1] ?? ''] })).toEqual({ removed: 1 })
  expect(await bravo.ok(acknowledge, { id: 'bravo', messages: [...ids, 'mail_of_nobody'] })).toEqual({ removed: 2 })
  expect(await bravo.ok(acknowledge, { id: 'bravo', messages: ids })).toEqual({ removed: 0 })
  expect(await listWaiting()).toEqual([])
})

test('other bytes under a number stand beside the first: the receiver judges', async () => {
  const alpha = await world().as('alpha')
  await deliverMail(alpha, 'alpha', 'bravo', buildMail(1))
  await deliverMail(alpha, 'alpha', 'bravo', buildMail(1, 'other words'))
  expect(await listWaiting()).toHaveLength(2)
  await emptyMailbox()
})

test('a flood fills its own place only, by number and by bytes, and gets a retry time', async () => {
  const [alpha, charlie] = [await world().as('alpha'), await world().as('charlie')]
  await charlie.ok(register, { id: 'charlie', ...buildRegistration('charlie') })
  for (let seq = 1; seq <= 5; seq++) await deliverMail(alpha, 'alpha', 'bravo', buildMail(seq))
  expect(await alpha.refusal(deliver, { id: 'bravo', from: 'alpha', ...buildMail(6) })).toBe('rate_limited')
  // A message that is stored already does not count again.
  await deliverMail(alpha, 'alpha', 'bravo', buildMail(5))
  await deliverMail(charlie, 'charlie', 'bravo', buildMail(1))
  await emptyMailbox()
  await deliverMail(alpha, 'alpha', 'bravo', buildMail(1, 'x'.repeat(1_200)))
  expect(await alpha.refusal(deliver, { id: 'bravo', from: 'alpha', ...buildMail(2, 'y'.repeat(1_200)) })).toBe(
    'rate_limited',
  )
  expect(await alpha.refusal(deliver, { id: 'bravo', from: 'alpha', ...buildMail(2, 'y'.repeat(1_600)) })).toBe(
    'too_large',
  )
  await emptyMailbox()
})

test('nobody but its owner takes from a mailbox, and nothing of another is acknowledged away', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const { id } = await deliverMail(alpha, 'alpha', 'bravo', buildMail(1))
  expect(await alpha.ok(acknowledge, { id: 'alpha', messages: [id] })).toEqual({ removed: 0 })
  expect((await alpha.ok(list, { id: 'alpha', from: 'alpha' })).items).toEqual([])
  expect(await alpha.refusal(list, { id: 'bravo', from: 'alpha' })).toBe('forbidden')
  const stream = await openEventReader(world().site.url('hub'), '/api/v2/hub/node/bravo/message/events', alpha.token)
  expect(stream.status).toBe(403)
  expect(await listWaiting()).toHaveLength(1)
  expect(await bravo.refusal(list, { id: 'bravo', from: 'Not A Name' })).toBe('invalid')
  await emptyMailbox()
})

test('refuses a message with invalid base64, or without a number', async () => {
  const alpha = await world().as('alpha')
  const wrong = [{ body: 'a b=' }, { body: 'abc' }, { envelope: '====' }, { seq: 0 }, { epoch: 1.5 }]
  for (const each of wrong) {
    expect(await alpha.refusal(deliver, { id: 'bravo', from: 'alpha', ...buildMail(1), ...each })).toBe('invalid')
  }
})

test('a node is woken when something waits for it', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const reader = await openEventReader(world().site.url('hub'), '/api/v2/hub/node/bravo/message/events', bravo.token)
  await waitUntil(() => reader.events.length === 1)
  expect(reader.events[0]).toMatchObject({ event: 'mail', data: { waiting: 0 } })
  await deliverMail(alpha, 'alpha', 'bravo', buildMail(1))
  await waitUntil(() => reader.events.length > 1)
  expect(reader.events[1]).toMatchObject({ event: 'mail', data: { waiting: 1 } })
  reader.close()
  await emptyMailbox()
})

test('a message that nobody took in its days is gone', async () => {
  const alpha = await world().as('alpha')
  await deliverMail(alpha, 'alpha', 'bravo', buildMail(1))
  world().site.clock.advance(2 * 86_400_000)
  world().site.wakeWorker('hub', 'sweep')
  await waitUntil(async () => (await listWaiting()).length === 0)
})

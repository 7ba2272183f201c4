// What the turns of the peers promise: none is waited for until another, who has always more, has ended.
import { expect, test } from 'vitest'
import type { CarryOutcome } from '../../../daemon/kernel/messaging/carrier.ts'
import type { HubClient, MailPage } from './hub-client.ts'
import { receiveMail } from './receive-mail.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A hub with so many messages for each peer, a message a page; what is taken is gone. Tells what was asked for. */
function stubHub(mailboxes: Record<string, number>) {
  const asked: string[] = []
  const acknowledged = new Set<string>()
  const page = (from: string, at: number): MailPage => {
    asked.push(from)
    const places = Array.from({ length: mailboxes[from] ?? 0 }, (_, place) => place)
    const [first, next] = places.filter((place) => place >= at && !acknowledged.has(`${from}-${place}`))
    if (first === undefined) return { items: [] }
    const item = { id: `${from}-${first}`, from, epoch: 1, seq: first + 1, envelope: '', body: '', arrived_at: '' }
    return { items: [item], ...(next === undefined ? {} : { next_cursor: String(next) }) }
  }
  const hub: Pick<HubClient, 'waiting' | 'acknowledge'> = {
    waiting: async (from, cursor = '0') => page(from, Number(cursor)),
    async acknowledge(ids) {
      for (const id of ids) acknowledged.add(id)
      return {}
    },
  }
  return { hub, asked, acknowledged, mailboxes }
}

async function receive(given: ReturnType<typeof stubHub>, landing: (peer: string) => CarryOutcome = () => 'landed') {
  await receiveMail({
    hub: given.hub,
    peers: Object.keys(given.mailboxes),
    land: async (peer, parcels) => parcels.map(() => landing(peer)),
    log,
    signal: new AbortController().signal,
    reported_oversized: new Map(),
  })
}

test('a page of each peer in turn', async () => {
  const hub = stubHub({ busy: 3, other: 2 })
  await receive(hub)
  expect(hub.asked).toEqual(['busy', 'other', 'busy', 'other', 'busy'])
  expect(hub.acknowledged.size).toBe(5)
})

test('who had nothing is asked again while another has always more', async () => {
  const hub = stubHub({ busy: 300, other: 0 })
  const asks = hub.asked.push.bind(hub.asked)
  hub.asked.push = (peer) => {
    if (hub.asked.length === 20) hub.mailboxes.other = 1
    return asks(peer)
  }
  await receive(hub)
  expect([...hub.acknowledged].indexOf('other-0')).toBeLessThan(30)
  expect(hub.acknowledged.size).toBe(301)
})

test('what stays at the hub hides nothing behind it', async () => {
  const hub = stubHub({ stuck: 50, other: 1 })
  await receive(hub, (peer) => (peer === 'stuck' ? 'too_large' : 'landed'))
  expect(hub.asked.filter((peer) => peer === 'stuck')).toHaveLength(50)
  expect([...hub.acknowledged]).toEqual(['other-0'])
})

test('a peer of whom nothing is taken now is left alone', async () => {
  const hub = stubHub({ full: 50, other: 2 })
  await receive(hub, (peer) => (peer === 'full' ? 'full' : 'landed'))
  expect(hub.asked.filter((peer) => peer === 'full')).toHaveLength(1)
  expect([...hub.acknowledged]).toEqual(['other-0', 'other-1'])
})

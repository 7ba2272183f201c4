// Mail is received by peers in turn: a peer with endless mail does not delay the others.
import { expect, test } from 'vitest'
import type { CarryOutcome } from '../../../daemon/kernel/messaging/carrier.ts'
import type { HubClient, MailPage } from './hub-client.ts'
import { receiveMail } from './receive-mail.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A hub with one message a page; acknowledged messages are gone. `requested` lists the peer of each page request. */
function stubHub(mailboxes: Record<string, number>) {
  const requested: string[] = []
  const acknowledged = new Set<string>()
  const page = (from: string, at: number): MailPage => {
    requested.push(from)
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
  return { hub, requested, acknowledged, mailboxes }
}

async function receive(stub: ReturnType<typeof stubHub>, landing: (peer: string) => CarryOutcome = () => 'landed') {
  await receiveMail({
    hub: stub.hub,
    peers: Object.keys(stub.mailboxes),
    land: async (peer, parcels) => parcels.map(() => landing(peer)),
    log,
    signal: new AbortController().signal,
    reported_oversized: new Map(),
  })
}

test('one page of each peer is fetched in turn', async () => {
  const hub = stubHub({ busy: 3, other: 2 })
  await receive(hub)
  expect(hub.requested).toEqual(['busy', 'other', 'busy', 'other', 'busy'])
  expect(hub.acknowledged.size).toBe(5)
})

test('a peer without mail is polled again while another has more', async () => {
  const hub = stubHub({ busy: 300, other: 0 })
  const push = hub.requested.push.bind(hub.requested)
  hub.requested.push = (peer) => {
    if (hub.requested.length === 20) hub.mailboxes.other = 1
    return push(peer)
  }
  await receive(hub)
  expect([...hub.acknowledged].indexOf('other-0')).toBeLessThan(30)
  expect(hub.acknowledged.size).toBe(301)
})

test('a message that stays at the hub does not block later ones', async () => {
  const hub = stubHub({ stuck: 50, other: 1 })
  await receive(hub, (peer) => (peer === 'stuck' ? 'too_large' : 'landed'))
  expect(hub.requested.filter((peer) => peer === 'stuck')).toHaveLength(50)
  expect([...hub.acknowledged]).toEqual(['other-0'])
})

test('a peer whose mail cannot be stored now is not polled again', async () => {
  const hub = stubHub({ full: 50, other: 2 })
  await receive(hub, (peer) => (peer === 'full' ? 'full' : 'landed'))
  expect(hub.requested.filter((peer) => peer === 'full')).toHaveLength(1)
  expect([...hub.acknowledged]).toEqual(['other-0', 'other-1'])
})

// Once people have ordered that something stays, nothing of it leaves any more: a network lets go of what it has in hand first.
import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { CarriedMessage, CarryOutcome, HandoverRequest } from '../../../daemon/kernel/messaging/carrier.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildPeer,
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  listHandedParcels,
  restartSite,
  sendFromAlpha,
} from './filedrop-sites.ts'
import { approvalEvent } from './release-quarantined.ts'

let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  await restartSite(world.alpha)
})
afterEach(() => world.dispose())

const pinBravo = (more: Partial<Peer>) => world.alpha.pinned.set('bravo', buildPeer(world.bravo, more))
const unclassified = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-bravo' }
const purgeDigest = (digest: string) => world.alpha.transport.custody.purge(digest, 'spillage', [approvalEvent])

/** A network that takes its time: what it has in hand leaves when it is told to, unless it was called back before. */
function startSlowNetwork(peer = 'bravo') {
  const left: number[] = []
  let inHand: readonly CarriedMessage[] = []
  const { promise: told, resolve: send } = Promise.withResolvers<void>()
  const carry: HandoverRequest['carry'] = async (parcels, signal) => {
    inHand = parcels
    const stopped = new Promise<void>((stop) => signal.addEventListener('abort', () => stop()))
    await Promise.race([told, stopped])
    if (signal.aborted) throw new Error('called back')
    left.push(...parcels.map(({ seq }) => seq))
    return parcels.map((): CarryOutcome => 'landed')
  }
  const handed = world.alpha.transport.handover.offer(peer, { limit: 64, carry })
  return {
    left,
    send,
    handed,
    async inHand() {
      await waitUntil(() => inHand.length > 0)
      return inHand
    },
  }
}

describe('what a network has in hand', () => {
  test('does not leave after a purge of its body has answered, which tells that it may have left before', async () => {
    await sendFromAlpha(world, 2)
    const network = startSlowNetwork()
    const [spilled] = await network.inHand()
    const answer = await purgeDigest(sha384(spilled?.body ?? ''))
    network.send()
    expect(await network.handed).toEqual([])
    expect(network.left).toEqual([])
    const stem = '00000001-0000000000000001'
    expect(answer).toMatchObject({
      places: expect.arrayContaining([
        `bravo/out/ready/${stem}.body.json`,
        `bravo/under way/${stem} (it may have left)`,
      ]),
    })
    expect((await listHandedParcels(world.alpha, 'bravo')).map(({ seq }) => seq)).toEqual([2])
  })

  test('is told of as gone when it had landed before', async () => {
    await sendFromAlpha(world, 1)
    const network = startSlowNetwork()
    const [spilled] = await network.inHand()
    network.send()
    await network.handed
    await world.alpha.transport.rescan()
    const answer = await purgeDigest(sha384(spilled?.body ?? ''))
    expect(answer).toMatchObject({
      places: expect.arrayContaining(['bravo/out/sent/00000001-0000000000000001.body.json']),
    })
    expect(JSON.stringify(answer)).not.toContain('under way')
  })

  test('stays when the peer’s ceiling sinks below its label', async () => {
    await sendFromAlpha(world, 2)
    const network = startSlowNetwork()
    await network.inHand()
    pinBravo({ ceiling: unclassified })
    expect(await network.handed).toEqual([])
    network.send()
    expect(network.left).toEqual([])
    expect(await listHandedParcels(world.alpha, 'bravo')).toEqual([])
    pinBravo({})
    expect(await listHandedParcels(world.alpha, 'bravo')).toHaveLength(2)
  })

  test('stays when the peer is pinned no more, or the channel is frozen', async () => {
    await sendFromAlpha(world, 1)
    const network = startSlowNetwork()
    await network.inHand()
    world.alpha.pinned.delete('bravo')
    expect(await network.handed).toEqual([])
    pinBravo({})
    const again = startSlowNetwork()
    await again.inHand()
    await world.alpha.journal.setState('filedrop/alpha/bravo', 'frozen', 'somebody says so', [])
    expect(await again.handed).toEqual([])
    for (const each of [network, again]) {
      each.send()
      expect(each.left).toEqual([])
    }
    expect(fs.readdirSync(formatReadyPath(world.alpha, 'bravo'))).toHaveLength(2)
  })

  test('is told of to whoever listens once it may leave again, and lands then', async () => {
    await sendFromAlpha(world, 2)
    let told = 0
    world.alpha.transport.handover.onReady(() => {
      told += 1
    })
    const network = startSlowNetwork()
    const [spilled] = await network.inHand()
    await purgeDigest(sha384(spilled?.body ?? ''))
    expect(told).toBeGreaterThan(0)
    const next = startSlowNetwork()
    next.send()
    expect(await next.handed).toMatchObject([{ seq: 2, outcome: 'landed' }])
  })
})

test('what is ordered away and not removed yet is not handed over', async () => {
  await sendFromAlpha(world, 2)
  const [first] = await listHandedParcels(world.alpha, 'bravo')
  const { payload } = JSON.parse(Buffer.from(first?.envelope ?? '').toString())
  const statement = sha384(Buffer.from(payload, 'base64url'))
  await world.alpha.journal.orderPurge({ digest: statement, reason: 'spillage', at: 0 }, [approvalEvent])
  await restartSite(world.alpha)
  expect((await listHandedParcels(world.alpha, 'bravo')).map(({ seq }) => seq)).toEqual([2])
})

test('another process that holds the peer is waited for, and nothing is read before', async () => {
  let isHeld = 0
  const free = Promise.withResolvers<void>()
  const hold = async () => {
    isHeld += 1
    await free.promise
    return {
      release() {
        isHeld -= 1
      },
    }
  }
  await restartSite(world.alpha, undefined, {}, { hold })
  await sendFromAlpha(world, 1)
  const network = startSlowNetwork()
  await waitUntil(() => isHeld === 1)
  pinBravo({ ceiling: unclassified })
  free.resolve()
  expect(await network.handed).toMatchObject([{ seq: 1, outcome: 'kept_back' }])
  expect([network.left, isHeld]).toEqual([[], 0])
})

describe('memory', () => {
  /** Bodies of a good million bytes. */
  const large = (bytes: number) => ({ body: { text: 'x'.repeat(bytes) } })

  test('holds two million bytes of one peer at once, or one message that is larger', async () => {
    await sendFromAlpha(world, 3, large(900_000))
    await sendFromAlpha(world, 1, large(3_000_000))
    const sizes: number[] = []
    const carry: HandoverRequest['carry'] = async (parcels) => {
      sizes.push(parcels.length)
      return parcels.map(() => 'landed')
    }
    for (;;) {
      const handed = await world.alpha.transport.handover.offer('bravo', { limit: 64, carry })
      if (handed.length === 0) break
    }
    expect(sizes).toEqual([2, 1, 1])
  })
})

// Once people have ordered that something stays, nothing of it leaves any more: a network lets go of what it has in hand first.
import * as fs from 'node:fs'
import { describe, expect } from 'vitest'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import type { CarriedMessage, CarryOutcome, HandoverRequest } from '../../../../daemon/kernel/messaging/carrier.ts'
import {
  buildPeer,
  type FiledropSites,
  formatReadyPath,
  listHandedParcels,
  restartSite,
  sendFromAlpha,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest as test } from '../../../support/filedrop/filedrop-test.ts'
import { approvalEvent } from '../../../support/filedrop/release-quarantined.ts'
import { waitUntil } from '../../../support/site/test-site.ts'

test.beforeEach(async ({ sites }) => {
  await restartSite(sites.alpha)
})

const pinBravo = (sites: FiledropSites, more: Partial<Peer>) =>
  sites.alpha.pinned.set('bravo', buildPeer(sites.bravo, more))
const unclassified = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-bravo' }
const purgeDigest = (sites: FiledropSites, digest: string) =>
  sites.alpha.transport.custody.purge(digest, 'spillage', [approvalEvent])

/** A network that takes its time: its messages leave at a signal, unless they were called back before. */
function startSlowNetwork(sites: FiledropSites, peer = 'bravo') {
  const left: number[] = []
  let inHand: readonly CarriedMessage[] = []
  const { promise: started, resolve: send } = Promise.withResolvers<void>()
  const carry: HandoverRequest['carry'] = async (parcels, signal) => {
    inHand = parcels
    const stopped = new Promise<void>((stop) => signal.addEventListener('abort', () => stop()))
    await Promise.race([started, stopped])
    if (signal.aborted) throw new Error('called back')
    left.push(...parcels.map(({ seq }) => seq))
    return parcels.map((): CarryOutcome => 'landed')
  }
  const handed = sites.alpha.transport.handover.offer(peer, { limit: 64, carry })
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

describe('a message in the hands of a network', () => {
  test('does not leave after a purge of its body has answered, which tells that it may have left before', async ({
    sites,
  }) => {
    await sendFromAlpha(sites, 2)
    const network = startSlowNetwork(sites)
    const [spilled] = await network.inHand()
    const answer = await purgeDigest(sites, sha384(spilled?.body ?? ''))
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
    expect((await listHandedParcels(sites.alpha, 'bravo')).map(({ seq }) => seq)).toEqual([2])
  })

  test('is reported as gone when it had landed before', async ({ sites }) => {
    await sendFromAlpha(sites, 1)
    const network = startSlowNetwork(sites)
    const [spilled] = await network.inHand()
    network.send()
    await network.handed
    await sites.alpha.transport.rescan()
    const answer = await purgeDigest(sites, sha384(spilled?.body ?? ''))
    expect(answer).toMatchObject({
      places: expect.arrayContaining(['bravo/out/sent/00000001-0000000000000001.body.json']),
    })
    expect(JSON.stringify(answer)).not.toContain('under way')
  })

  test('stays when the peer’s ceiling sinks below its label', async ({ sites }) => {
    await sendFromAlpha(sites, 2)
    const network = startSlowNetwork(sites)
    await network.inHand()
    pinBravo(sites, { ceiling: unclassified })
    expect(await network.handed).toEqual([])
    network.send()
    expect(network.left).toEqual([])
    expect(await listHandedParcels(sites.alpha, 'bravo')).toEqual([])
    pinBravo(sites, {})
    expect(await listHandedParcels(sites.alpha, 'bravo')).toHaveLength(2)
  })

  test('stays when the peer is pinned no more, or the channel is frozen', async ({ sites }) => {
    await sendFromAlpha(sites, 1)
    const network = startSlowNetwork(sites)
    await network.inHand()
    sites.alpha.pinned.delete('bravo')
    expect(await network.handed).toEqual([])
    pinBravo(sites, {})
    const again = startSlowNetwork(sites)
    await again.inHand()
    await sites.alpha.journal.setState('filedrop/alpha/bravo', 'frozen', 'somebody says so', [])
    expect(await again.handed).toEqual([])
    for (const each of [network, again]) {
      each.send()
      expect(each.left).toEqual([])
    }
    expect(fs.readdirSync(formatReadyPath(sites.alpha, 'bravo'))).toHaveLength(2)
  })

  test('is announced to every listener once it may leave again, and lands then', async ({ sites }) => {
    await sendFromAlpha(sites, 2)
    let reported = 0
    sites.alpha.transport.handover.onReady(() => {
      reported += 1
    })
    const network = startSlowNetwork(sites)
    const [spilled] = await network.inHand()
    await purgeDigest(sites, sha384(spilled?.body ?? ''))
    expect(reported).toBeGreaterThan(0)
    const next = startSlowNetwork(sites)
    next.send()
    expect(await next.handed).toMatchObject([{ seq: 2, outcome: 'landed' }])
  })
})

test('a message ordered away and not removed yet is not handed over', async ({ sites }) => {
  await sendFromAlpha(sites, 2)
  const [first] = await listHandedParcels(sites.alpha, 'bravo')
  const { payload } = JSON.parse(Buffer.from(first?.envelope ?? '').toString())
  const statement = sha384(Buffer.from(payload, 'base64url'))
  await sites.alpha.journal.orderPurge({ digest: statement, reason: 'spillage', at: 0 }, [approvalEvent])
  await restartSite(sites.alpha)
  expect((await listHandedParcels(sites.alpha, 'bravo')).map(({ seq }) => seq)).toEqual([2])
})

test('another process that holds the peer is waited for, and nothing is read before', async ({ sites }) => {
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
  await restartSite(sites.alpha, undefined, {}, { hold })
  await sendFromAlpha(sites, 1)
  const network = startSlowNetwork(sites)
  await waitUntil(() => isHeld === 1)
  pinBravo(sites, { ceiling: unclassified })
  free.resolve()
  expect(await network.handed).toMatchObject([{ seq: 1, outcome: 'kept_back' }])
  expect([network.left, isHeld]).toEqual([[], 0])
})

describe('memory', () => {
  /** Bodies of a good million bytes. */
  const large = (bytes: number) => ({ body: { text: 'x'.repeat(bytes) } })

  test('holds two million bytes of one peer at once, or one message that is larger', async ({ sites }) => {
    await sendFromAlpha(sites, 3, large(900_000))
    await sendFromAlpha(sites, 1, large(3_000_000))
    const sizes: number[] = []
    const carry: HandoverRequest['carry'] = async (parcels) => {
      sizes.push(parcels.length)
      return parcels.map(() => 'landed')
    }
    for (;;) {
      const handed = await sites.alpha.transport.handover.offer('bravo', { limit: 64, carry })
      if (handed.length === 0) break
    }
    expect(sizes).toEqual([2, 1, 1])
  })
})

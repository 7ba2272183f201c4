// A hub that takes nothing now says for how long, and is left alone for that long.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CarriedMessage, type Carrier, PeerBusyError } from '../../../daemon/kernel/messaging/carrier.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { createCarrier } from './hub-sites.ts'
import { startTamperingHub, type TamperingHub } from './tampering-hub.ts'
import { startTestHub, type TestHub } from './test-hub.ts'

const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
let hub: TestHub
let tamperingHub: TamperingHub
let alpha: Carrier
let bravo: Carrier
beforeEach(async () => {
  hub = await startTestHub({ mailbox_messages: 3 })
  tamperingHub = await startTamperingHub(hub.endpoint)
  alpha = createCarrier(tamperingHub.endpoint('alpha'), 'alpha', ['bravo'], silentLog)
  bravo = createCarrier(hub.endpoint('bravo'), 'bravo', [], silentLog)
  for (const each of [alpha, bravo]) {
    await each.start(
      async () => [],
      async () => undefined,
    )
  }
  await waitUntil(async () => (await hub.isRegistered('alpha')) && (await hub.isRegistered('bravo')))
})
afterEach(async () => {
  for (const each of [alpha, bravo]) await each.stop()
  await tamperingHub.close()
  await hub.close()
})

const buildParcel = (seq: number): CarriedMessage => ({
  epoch: 1,
  seq,
  envelope: Buffer.from('{}'),
  body: Buffer.from(`{"n":${seq}}`),
})
const carryParcels = (...seqs: number[]) => alpha.carry('bravo', seqs.map(buildParcel), AbortSignal.timeout(30_000))

test('a full mailbox is: what fitted has landed, and the next try hears for how long', async () => {
  for (const seq of [1, 2, 3]) expect(await carryParcels(seq)).toEqual(['landed'])
  const refused = await carryParcels(4).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(PeerBusyError)
  expect(refused).toMatchObject({ wait_ms: 5_000 })
  // Messages already stored stay, even when other peers exceed the limit.
  expect(await carryParcels(1, 4)).toEqual(['landed', 'full'])
})

test.each([
  ['7', 7_000],
  [undefined, 5_000],
  ['-1', 5_000],
  ['Fri, 31 Dec 2027 23:59:59 GMT', 5_000],
])('a hub that is not available and says “%s” is', async (retry_after, wait_ms) => {
  tamperingHub.tampering.respond = (method, path) =>
    method === 'POST' && path.endsWith('/message')
      ? { status: 503, text: '{}', ...(retry_after === undefined ? {} : { retry_after }) }
      : undefined
  const refused = await carryParcels(1, 2).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(PeerBusyError)
  expect(refused).toMatchObject({ wait_ms })
})

test('another failure is thrown once all parallel sends have ended', async () => {
  let sent = 0
  let answered = 0
  tamperingHub.tampering.respond = (method, path) => {
    if (method !== 'POST' || !path.endsWith('/message')) return undefined
    sent += 1
    if (sent === 1) return { status: 500, text: '{}' }
    answered += 1
    return undefined
  }
  await expect(carryParcels(1, 2, 3)).rejects.toThrow('500')
  expect([sent, answered, await hub.countWaiting()]).toEqual([3, 2, 2])
})

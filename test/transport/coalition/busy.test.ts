// A hub that takes nothing now says for how long, and is left alone for that long.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Busy, type Carrier, type Parcel } from '../../../daemon/kernel/carrier.ts'
import { until } from '../../support/site-world.ts'
import { carrierFor } from './hub-sites.ts'
import { type LyingHub, lyingHub } from './lying-hub.ts'
import { type ServedHub, servedHub } from './served-hub.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
let hub: ServedHub
let liar: LyingHub
let alpha: Carrier
let bravo: Carrier
beforeEach(async () => {
  hub = await servedHub({ mailbox_messages: 3 })
  liar = await lyingHub(hub.way)
  alpha = carrierFor(liar.way('alpha'), 'alpha', ['bravo'], quiet)
  bravo = carrierFor(hub.way('bravo'), 'bravo', [], quiet)
  for (const each of [alpha, bravo]) {
    await each.start(
      async () => [],
      async () => undefined,
    )
  }
  await until(async () => (await hub.isThere('alpha')) && (await hub.isThere('bravo')))
})
afterEach(async () => {
  for (const each of [alpha, bravo]) await each.stop()
  await liar.close()
  await hub.close()
})

const parcel = (seq: number): Parcel => ({
  epoch: 1,
  seq,
  envelope: Buffer.from('{}'),
  body: Buffer.from(`{"n":${seq}}`),
})
const carry = (...seqs: number[]) => alpha.carry('bravo', seqs.map(parcel), AbortSignal.timeout(30_000))

test('a full mailbox is: what fitted has landed, and the next try hears for how long', async () => {
  for (const seq of [1, 2, 3]) expect(await carry(seq)).toEqual(['landed'])
  const refused = await carry(4).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Busy)
  expect(refused).toMatchObject({ wait_ms: 5_000 })
  // What is there already is there, whoever else finds no room.
  expect(await carry(1, 4)).toEqual(['landed', 'full'])
})

test.each([
  ['7', 7_000],
  [undefined, 5_000],
  ['-1', 5_000],
  ['Fri, 31 Dec 2027 23:59:59 GMT', 5_000],
])('a hub that is not available and says “%s” is', async (retry_after, wait_ms) => {
  liar.lies.answers = (method, path) =>
    method === 'POST' && path.endsWith('/message')
      ? { status: 503, text: '{}', ...(retry_after === undefined ? {} : { retry_after }) }
      : undefined
  const refused = await carry(1, 2).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Busy)
  expect(refused).toMatchObject({ wait_ms })
})

test('what fails otherwise is thrown once all that was sent beside it has ended', async () => {
  let sent = 0
  let answered = 0
  liar.lies.answers = (method, path) => {
    if (method !== 'POST' || !path.endsWith('/message')) return undefined
    sent += 1
    if (sent === 1) return { status: 500, text: '{}' }
    answered += 1
    return undefined
  }
  await expect(carry(1, 2, 3)).rejects.toThrow('500')
  expect([sent, answered, await hub.waiting()]).toEqual([3, 2, 2])
})

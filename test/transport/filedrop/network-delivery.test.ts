// A network brings whole messages or none: halves and forgeries do not delay an honest message.
import * as fs from 'node:fs'
import { describe, expect } from 'vitest'
import { sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { CarriedMessage } from '../../../daemon/kernel/messaging/carrier.ts'
import { listReceivedNumbers } from '../../support/filedrop/filedrop-readers.ts'
import {
  type FiledropSites,
  listChannelFolders,
  listHandedParcels,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { approvalEvent } from '../../support/filedrop/release-quarantined.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })

const readHandover = (sites: FiledropSites) => sites.bravo.transport.handover
const landParcels = (sites: FiledropSites, ...parcels: CarriedMessage[]) =>
  readHandover(sites).receive('alpha', parcels)
const listFiles = (sites: FiledropSites) =>
  ['fresh', 'work'].flatMap((place) => fs.readdirSync(listChannelFolders(sites.bravo, 'alpha')[place as 'work']))
const bytes = (text: string) => Buffer.from(text)

/** The first message of alpha, as its network gets it. */
async function buildHonestParcel(sites: FiledropSites): Promise<CarriedMessage> {
  await sendFromAlpha(sites, 1)
  const [parcel] = await listHandedParcels(sites.alpha, 'bravo')
  if (!parcel) throw new Error('alpha has sent one')
  return parcel
}

const takeHalf = (whole: Uint8Array) => whole.subarray(0, whole.length / 2)
const buildClaimingEnvelope = (length: number) =>
  bytes(
    JSON.stringify({
      payload: Buffer.from(JSON.stringify({ kind: 'result', body: { length } })).toString('base64url'),
    }),
  )

const halvedParcels: [string, (of: CarriedMessage) => CarriedMessage][] = [
  ['an envelope without its body', (of) => ({ ...of, body: bytes('') })],
  ['half of its body', (of) => ({ ...of, body: takeHalf(of.body) })],
  ['a body without its envelope', (of) => ({ ...of, envelope: bytes('') })],
  ['half of its envelope', (of) => ({ ...of, envelope: takeHalf(of.envelope) })],
  ['a claim of more than there is', (of) => ({ ...of, envelope: buildClaimingEnvelope(4_194_304) })],
]

describe('a message that is incomplete by its own lengths', () => {
  test.for(halvedParcels)('(%s) is put away at once, and its number is free', async ([_what, halved], { sites }) => {
    const whole = await buildHonestParcel(sites)
    expect(await landParcels(sites, halved(whole))).toEqual(['landed'])
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toMatchObject([{ reason: 'TRUNCATED', epoch: 1, seq: 1 }])
    expect(listFiles(sites)).toEqual([])
    expect(await landParcels(sites, whole)).toEqual(['landed'])
    await sites.bravo.transport.rescan()
    expect(listReceivedNumbers(sites)).toEqual([1])
    expect(listFiles(sites)).toEqual([])
  })

  test('is stored byte for byte, recorded in the audit chain, and survives a restart', async ({ sites }) => {
    const whole = await buildHonestParcel(sites)
    await landParcels(sites, { ...whole, body: takeHalf(whole.body) })
    await restartSite(sites.bravo)
    const [item] = listQuarantineReasons(sites.bravo, 'alpha')
    const names = fs
      .readdirSync(listChannelFolders(sites.bravo, 'alpha').quarantine)
      .filter((name) => /env|body/.test(name))
    expect(item?.files.map(({ name }) => name).sort()).toEqual(names.sort())
    expect(item?.files.map(({ bytes: size }) => size).sort()).toEqual(
      [whole.envelope.length, takeHalf(whole.body).length].sort(),
    )
    expect((await sites.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
      quarantined: 1,
    })
  })

  test('many of them take the place of no honest message', async ({ sites }) => {
    const whole = await buildHonestParcel(sites)
    const flood = Array.from({ length: 200 }, (_, at) => ({ ...whole, seq: at + 1, body: bytes('') }))
    expect(await landParcels(sites, ...flood, whole)).toEqual([...flood, whole].map(() => 'landed'))
    await sites.bravo.transport.rescan()
    expect(listReceivedNumbers(sites)).toEqual([1])
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toHaveLength(200)
  })

  test('brings no purged body back by way of a broken envelope', async ({ sites }) => {
    const whole = await buildHonestParcel(sites)
    await sites.bravo.transport.custody.purge(sha384(whole.body), 'spillage', [approvalEvent])
    await landParcels(sites, { ...whole, envelope: takeHalf(whole.envelope) })
    expect(listQuarantineReasons(sites.bravo, 'alpha')[0]?.files).toHaveLength(1)
    const again = await sites.bravo.transport.custody.purge(sha384(whole.body), 'spillage', [approvalEvent])
    expect(again).toMatchObject({ places: ['alpha/in/new/00000001-0000000000000001.body.json'] })
  })

  test('finds the same end as one by a courier once the quarantine is full: nothing is taken', async ({ sites }) => {
    await restartSite(sites.bravo, undefined, { quarantine_max_bytes: 0 })
    expect(await landParcels(sites, { ...(await buildHonestParcel(sites)), body: bytes('') })).toEqual(['full'])
  })
})

const forgedParcels: [string, string, (of: CarriedMessage) => CarriedMessage][] = [
  ['other bytes of the same length', 'BODY_DIGEST', (of) => ({ ...of, body: Buffer.alloc(of.body.length, 32) })],
  ['more bytes', 'BODY_DIGEST', (of) => ({ ...of, body: Buffer.concat([of.body, bytes(' ')]) })],
  ['an envelope that is not JSON', 'BAD_JSON', (of) => ({ ...of, envelope: bytes('}') })],
  ['a claim of more than any body', 'BAD_JSON', (of) => ({ ...of, envelope: buildClaimingEnvelope(4_194_305) })],
]

test.for(forgedParcels)(
  'a forgery (%s) is judged at once, and its number is free',
  async ([_what, reason, forged], { sites }) => {
    const whole = await buildHonestParcel(sites)
    expect(await landParcels(sites, forged(whole))).toEqual(['landed'])
    await sites.bravo.transport.rescan()
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toMatchObject([{ reason }])
    expect(await landParcels(sites, whole)).toEqual(['landed'])
    await sites.bravo.transport.rescan()
    expect(listReceivedNumbers(sites)).toEqual([1])
  },
)

test('half of another message that a courier lays there is left alone', async ({ sites }) => {
  const whole = await buildHonestParcel(sites)
  const { fresh } = listChannelFolders(sites.bravo, 'alpha')
  fs.writeFileSync(`${fresh}/00000001-0000000000000001.env.json`, 'other')
  expect(await landParcels(sites, whole)).toEqual(['in_the_way'])
  expect(fs.readdirSync(fresh)).toEqual(['00000001-0000000000000001.env.json'])
})

test('a message above this site’s limit is too large by every network', async ({ sites }) => {
  await restartSite(sites.bravo, undefined, { max_body_bytes: 2_000, max_envelope_bytes: 2_000 })
  const whole = await buildHonestParcel(sites)
  const large = { ...whole, seq: 2, body: Buffer.alloc(2_001, 32) }
  expect(await landParcels(sites, large, whole, { ...whole, seq: 3, envelope: Buffer.alloc(2_001, 32) })).toEqual([
    'too_large',
    'landed',
    'too_large',
  ])
  await sites.bravo.transport.rescan()
  expect(listReceivedNumbers(sites)).toEqual([1])
})

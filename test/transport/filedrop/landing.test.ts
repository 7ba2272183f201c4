// What a network brings is whole or never will be: halves and forgeries lie in no honest message's way.
import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sha384 } from '../../../daemon/kernel/canonical.ts'
import type { Parcel } from '../../../daemon/kernel/carrier.ts'
import { event } from './release-world.ts'
import {
  handedBy,
  incomingOf,
  quarantineOf,
  restart,
  sendFromAlpha,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

let world: World
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const handover = () => world.bravo.transport.handover
const land = (...parcels: Parcel[]) => handover().land('alpha', parcels)
const numbers = () => world.bravo.received.map(({ statement }) => statement.seq)
const lying = () =>
  ['fresh', 'work'].flatMap((place) => fs.readdirSync(incomingOf(world.bravo, 'alpha')[place as 'work']))
const bytes = (text: string) => Buffer.from(text)

/** The first message of alpha, as its network is given it. */
async function honest(): Promise<Parcel> {
  await sendFromAlpha(world, 1)
  const [parcel] = await handedBy(world.alpha, 'bravo')
  if (!parcel) throw new Error('alpha has sent one')
  return parcel
}

const half = (given: Uint8Array) => given.subarray(0, given.length / 2)
const claiming = (length: number) =>
  bytes(
    JSON.stringify({
      payload: Buffer.from(JSON.stringify({ kind: 'result', body: { length } })).toString('base64url'),
    }),
  )

const halves: [string, (of: Parcel) => Parcel][] = [
  ['an envelope without its body', (of) => ({ ...of, body: bytes('') })],
  ['half of its body', (of) => ({ ...of, body: half(of.body) })],
  ['a body without its envelope', (of) => ({ ...of, envelope: bytes('') })],
  ['half of its envelope', (of) => ({ ...of, envelope: half(of.envelope) })],
  ['a claim of more than there is', (of) => ({ ...of, envelope: claiming(4_194_304) })],
]

describe('what is not whole by its own word', () => {
  test.each(halves)('(%s) is put away at once, and its number is free', async (_what, halved) => {
    const whole = await honest()
    expect(await land(halved(whole))).toEqual(['landed'])
    expect(quarantineOf(world.bravo, 'alpha')).toMatchObject([{ reason: 'TRUNCATED', epoch: 1, seq: 1 }])
    expect(lying()).toEqual([])
    expect(await land(whole)).toEqual(['landed'])
    await world.bravo.transport.rescan()
    expect(numbers()).toEqual([1])
    expect(lying()).toEqual([])
  })

  test('is kept byte for byte, told to the audit chain, and survives a restart', async () => {
    const whole = await honest()
    await land({ ...whole, body: half(whole.body) })
    await restart(world.bravo)
    const [item] = quarantineOf(world.bravo, 'alpha')
    const names = fs.readdirSync(incomingOf(world.bravo, 'alpha').quarantine).filter((name) => /env|body/.test(name))
    expect(item?.files.map(({ name }) => name).sort()).toEqual(names.sort())
    expect(item?.files.map(({ bytes: size }) => size).sort()).toEqual(
      [whole.envelope.length, half(whole.body).length].sort(),
    )
    expect((await world.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
      quarantined: 1,
    })
  })

  test('many of them take the place of no honest message', async () => {
    const whole = await honest()
    const flood = Array.from({ length: 200 }, (_, at) => ({ ...whole, seq: at + 1, body: bytes('') }))
    expect(await land(...flood, whole)).toEqual([...flood, whole].map(() => 'landed'))
    await world.bravo.transport.rescan()
    expect(numbers()).toEqual([1])
    expect(quarantineOf(world.bravo, 'alpha')).toHaveLength(200)
  })

  test('brings no purged body back by way of a broken envelope', async () => {
    const whole = await honest()
    await world.bravo.transport.custody.purge(sha384(whole.body), 'spillage', [event])
    await land({ ...whole, envelope: half(whole.envelope) })
    expect(quarantineOf(world.bravo, 'alpha')[0]?.files).toHaveLength(1)
    const again = await world.bravo.transport.custody.purge(sha384(whole.body), 'spillage', [event])
    expect(again).toMatchObject({ places: ['alpha/in/new/00000001-0000000000000001.body.json'] })
  })

  test('finds the same end as one by a courier once the quarantine is full: nothing is taken', async () => {
    await restart(world.bravo, undefined, { quarantine_max_bytes: 0 })
    expect(await land({ ...(await honest()), body: bytes('') })).toEqual(['full'])
  })
})

const forgeries: [string, string, (of: Parcel) => Parcel][] = [
  ['other bytes of the same length', 'BODY_DIGEST', (of) => ({ ...of, body: Buffer.alloc(of.body.length, 32) })],
  ['more bytes', 'BODY_DIGEST', (of) => ({ ...of, body: Buffer.concat([of.body, bytes(' ')]) })],
  ['an envelope that is no JSON', 'BAD_JSON', (of) => ({ ...of, envelope: bytes('}') })],
  ['a claim of more than any body', 'BAD_JSON', (of) => ({ ...of, envelope: claiming(4_194_305) })],
]

test.each(forgeries)('a forgery (%s) is judged at once, and its number is free', async (_what, reason, forged) => {
  const whole = await honest()
  expect(await land(forged(whole))).toEqual(['landed'])
  await world.bravo.transport.rescan()
  expect(quarantineOf(world.bravo, 'alpha')).toMatchObject([{ reason }])
  expect(await land(whole)).toEqual(['landed'])
  await world.bravo.transport.rescan()
  expect(numbers()).toEqual([1])
})

test('half of another message that a courier lays there is left alone', async () => {
  const whole = await honest()
  const { fresh } = incomingOf(world.bravo, 'alpha')
  fs.writeFileSync(`${fresh}/00000001-0000000000000001.env.json`, 'other')
  expect(await land(whole)).toEqual(['in_the_way'])
  expect(fs.readdirSync(fresh)).toEqual(['00000001-0000000000000001.env.json'])
})

test('what is larger than this site takes is too large by whatever network it comes', async () => {
  await restart(world.bravo, undefined, { max_body_bytes: 2_000, max_envelope_bytes: 2_000 })
  const whole = await honest()
  const large = { ...whole, seq: 2, body: Buffer.alloc(2_001, 32) }
  expect(await land(large, whole, { ...whole, seq: 3, envelope: Buffer.alloc(2_001, 32) })).toEqual([
    'too_large',
    'landed',
    'too_large',
  ])
  await world.bravo.transport.rescan()
  expect(numbers()).toEqual([1])
})

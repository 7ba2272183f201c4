// A carrier without keys, attack by attack: nothing but what alpha signed is applied, once; each attack has its reason and
// its alarm; and when an honest carrier comes, all is as if the hostile one had never been.
import { describe, expect } from 'vitest'
import { listNumbers, listQuarantineReasons } from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { bodyAttacks } from './body-attacks.ts'
import { deliveryAttacks } from './delivery-attacks.ts'
import { envelopeAttacks } from './envelope-attacks.ts'
import { fileAttacks } from './file-attacks.ts'
import { folderAttacks } from './folder-attacks.ts'
import { type CarrierAttack, type HostileCarrier, startHostileCarrier } from './hostile-carrier.ts'
import { nameAttacks } from './name-attacks.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })

const tables: Readonly<Record<string, readonly CarrierAttack[]>> = {
  'a carrier and the delivery:': deliveryAttacks,
  'a carrier and the bodies:': bodyAttacks,
  'a carrier and the envelopes:': envelopeAttacks,
  'a carrier and the names:': nameAttacks,
  'a carrier and the files:': fileAttacks,
  'a carrier and the folders:': folderAttacks,
}

for (const [table, attacks] of Object.entries(tables)) {
  describe(table, () => {
    test.for(attacks.map((attack) => [attack.name, attack] as const))('%s', async ([, attack], { sites }) => {
      const carrier = await startHostileCarrier(sites)
      await attack.act(carrier)
      await carrier.scan()
      await expectOutcome(carrier, attack)
      await attack.repair?.(carrier)
      await expectRecovery(carrier, attack)
    })
  })
}

test('the tables hold at least a hundred attacks, each under its own name', () => {
  const names = Object.values(tables).flatMap((attacks) => attacks.map(({ name }) => name))
  expect(names.length).toBeGreaterThanOrEqual(100)
  expect(new Set(names).size).toBe(names.length)
})

async function expectOutcome({ sites: { bravo } }: HostileCarrier, attack: CarrierAttack): Promise<void> {
  const { applied, quarantined = [], channel = 'open', alarms = [] } = attack
  expect(listNumbers(bravo.received)).toEqual(applied)
  const status = (await bravo.transport.status()).find(({ direction }) => direction === 'in')
  expect(status?.state, status?.detail).toBe(channel)
  // Each refusal is in the audit chain and beside its files.
  if (channel === 'open') expect(listReasons(bravo)).toEqual(quarantined)
  const refusals = await bravo.audit.list({ action: 'filedrop.message.quarantined', limit: 99 })
  expect(refusals.map(({ event }) => event?.detail.reason)).toEqual(quarantined)
  for (const alarm of alarms) expect(await listAlarms(bravo)).toContain(alarm)
  expect(bravo.events.filter(({ event }) => event.endsWith('failed'))).toEqual([])
}

/** An honest carrier brings everything that alpha has published. */
async function expectRecovery({ sites, parcels, deliver, scan }: HostileCarrier, attack: CarrierAttack): Promise<void> {
  const { bravo } = sites
  const before = listReasons(bravo)
  for (const parcel of parcels) deliver(parcel)
  await scan()
  expect(listNumbers(bravo.received)).toEqual(attack.recovered ?? [1, 2, 3])
  for (const { statement, body_text } of bravo.received) {
    const signed = parcels[statement.seq - 1]
    if (signed) expect(body_text).toBe(signed.body.toString('utf8'))
  }
  if (attack.recovered === undefined) expect(listReasons(bravo)).toEqual(before)
  expect(await bravo.audit.verify()).toBeUndefined()
}

type BravoSite = HostileCarrier['sites']['bravo']

function listReasons(bravo: BravoSite): string[] {
  return listQuarantineReasons(bravo, 'alpha').map(({ reason }) => reason)
}

async function listAlarms({ audit, events }: BravoSite): Promise<string[]> {
  const records = await audit.list({ limit: 500 })
  return [...records.flatMap(({ event }) => event?.action ?? []), ...events.map(({ event }) => event)]
}

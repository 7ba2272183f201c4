// A carrier that loses, delays, repeats and reorders, and that moves clocks.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { formatReadyPath, restartSite } from '../../support/filedrop/filedrop-sites.ts'
import { type CarrierAttack, day_ms, formatStem, type HostileCarrier } from './hostile-carrier.ts'

const inventory_interval_ms = 300_000

/** The inventory that alpha sends as message 4. */
async function takeInventory({ sites }: HostileCarrier) {
  // The interval counts from the first scan of the sender.
  await restartSite(sites.alpha)
  sites.clock.ms += inventory_interval_ms
  await sites.alpha.transport.rescan()
  const read = (part: string) =>
    fs.readFileSync(join(formatReadyPath(sites.alpha, 'bravo'), `${formatStem(4)}.${part}.json`))
  return { stem: formatStem(4), env: read('env'), body: read('body') }
}

export const deliveryAttacks: readonly CarrierAttack[] = [
  { name: 'brings nothing', act: ({ scan }) => scan(), applied: [] },
  {
    name: 'loses a message on the way',
    act: ({ deliver, parcels: [first, , third] }) => [first, third].map((each) => deliver(each)),
    applied: [1, 3],
    alarms: ['filedrop.gap.found'],
  },
  {
    name: 'loses everything but the inventory',
    act: async (carrier) => carrier.deliver(await takeInventory(carrier)),
    applied: [4],
    alarms: ['filedrop.gap.found'],
    recovered: [1, 2, 3, 4],
  },
  {
    name: 'withholds the last message and the inventory that would show it, for good',
    act: async (carrier) => {
      for (const parcel of carrier.parcels.slice(0, 2)) carrier.deliver(parcel)
      for (let interval = 0; interval < 4; interval++) await carrier.wait(inventory_interval_ms)
    },
    applied: [1, 2],
    alarms: ['filedrop.channel.stale'],
  },
  {
    name: 'brings the newest first',
    act: async ({ deliver, parcels, scan }) => {
      for (const parcel of parcels.toReversed()) {
        deliver(parcel)
        await scan()
      }
    },
    applied: [1, 2, 3],
  },
  {
    name: 'brings each message three times, also after it was applied',
    act: async ({ deliver, parcels, scan }) => {
      for (let round = 0; round < 3; round++) {
        for (const parcel of parcels) deliver(parcel)
        await scan()
      }
    },
    applied: [1, 2, 3],
  },
  {
    name: 'replays an applied message with another body',
    act: async ({ deliver, parcels: [first], scan }) => {
      deliver(first)
      await scan()
      deliver(first, { body: Buffer.from(first.body.toString().replace('"number"', '"numbed"')) })
    },
    applied: [1],
  },
  {
    name: 'replays an applied message months later',
    act: async ({ deliver, parcels, wait }) => {
      for (const parcel of parcels) deliver(parcel)
      await wait(200 * day_ms)
      for (const parcel of parcels) deliver(parcel)
    },
    applied: [1, 2, 3],
  },
  {
    name: 'replays an applied message to a site that has restarted',
    act: async ({ deliver, parcels, scan, sites }) => {
      for (const parcel of parcels) deliver(parcel)
      await scan()
      await restartSite(sites.bravo)
      for (const parcel of parcels) deliver(parcel)
    },
    applied: [1, 2, 3],
  },
  {
    name: 'delays a message to its last day',
    act: async ({ deliver, parcels: [first], wait }) => {
      await wait(7 * day_ms)
      deliver(first)
    },
    applied: [1],
    recovered: [1, 2, 3],
  },
  {
    name: 'delays all messages beyond their end',
    act: async ({ deliver, parcels, wait }) => {
      await wait(8 * day_ms)
      for (const parcel of parcels) deliver(parcel)
    },
    applied: [],
    quarantined: ['EXPIRED', 'EXPIRED', 'EXPIRED'],
    recovered: [],
  },
  {
    name: 'turns the receiver’s clock back an hour',
    act: async ({ deliver, parcels, scan, sites }) => {
      sites.clock.ms -= 3_600_000
      for (const parcel of parcels) deliver(parcel)
      await scan()
      sites.clock.ms += 3_600_000
    },
    applied: [],
    quarantined: ['FUTURE', 'FUTURE', 'FUTURE'],
  },
  {
    name: 'brings the body a day before its envelope',
    act: async ({ put, parcels: [{ stem, env, body }], wait }) => {
      put(`${stem}.body.json`, body)
      await wait(day_ms - 1)
      put(`${stem}.env.json`, env)
    },
    applied: [1],
  },
  {
    name: 'withholds the envelope',
    act: async ({ put, parcels: [{ stem, body }], wait }) => {
      put(`${stem}.body.json`, body)
      await wait(day_ms)
    },
    applied: [],
    quarantined: ['TRUNCATED'],
  },
  {
    name: 'withholds the body',
    act: async ({ put, parcels: [{ stem, env }], wait }) => {
      put(`${stem}.env.json`, env)
      await wait(day_ms)
    },
    applied: [],
    quarantined: ['TRUNCATED'],
  },
  {
    name: 'restarts the clock of a half with a touch each hour',
    act: async ({ put, parcels: [{ stem, env }], wait }) => {
      for (let hour = 0; hour < 24; hour++) {
        put(`${stem}.env.json`, env)
        await wait(day_ms / 24)
      }
    },
    applied: [],
    quarantined: ['TRUNCATED'],
  },
  {
    name: 'buries the messages under two thousand halves',
    act: ({ put, deliver, parcels }) => {
      for (let seq = 100; seq < 2_100; seq++) put(`${formatStem(seq)}.${seq % 2 ? 'env' : 'body'}.json`, '{')
      for (const parcel of parcels) deliver(parcel)
    },
    applied: [1, 2, 3],
  },
]

// A carrier that nobody should hire: it loses, doubles, delays, damages and halves what it carries, and writes slowly in place.
import * as fs from 'node:fs'
import path from 'node:path'
import type { SeededRandom } from '../support/random/seeded-random.ts'
import {
  type CourierParcel,
  type CourierRoute,
  deliverParcels,
  formatChannelFolder,
  pickUpParcels,
} from '../support/site/courier.ts'

const faultWeights = { carried: 55, lost: 10, doubled: 8, late: 12, damaged: 5, halved: 5, slow: 5 } as const
type CarrierFault = keyof typeof faultWeights

export type FaultyCarrier = {
  readonly counts: Record<CarrierFault, number>
  /** One trip. */
  carry(): void
  /** Brings all that is still in its bag, and is honest from then on. */
  stopFaults(): void
}

export function createFaultyCarrier(road: CourierRoute, chance: SeededRandom): FaultyCarrier {
  const counts = { carried: 0, lost: 0, doubled: 0, late: 0, damaged: 0, halved: 0, slow: 0 }
  let trip = 0
  let isHonest = false
  let bag: { readonly on: number; readonly act: () => void }[] = []
  const later = (act: () => void) => void bag.push({ on: trip + 1 + chance.below(12), act })
  const deliveries: Readonly<Record<CarrierFault, (parcel: CourierParcel) => void>> = {
    carried: (parcel) => deliverParcels(road, [parcel]),
    lost: () => undefined,
    doubled(parcel) {
      deliverParcels(road, [parcel])
      later(() => deliverParcels(road, [parcel]))
    },
    late: (parcel) => later(() => deliverParcels(road, [parcel])),
    damaged: (parcel) => deliverParcels(road, [damageParcel(parcel, chance)]),
    halved: (parcel) => deliverHalf(road, parcel, chance),
    slow(parcel) {
      for (const [place, write] of deliverSlowly(road, parcel, chance).entries())
        bag.push({ on: trip + place, act: write })
    },
  }
  const unpack = (isDue: (on: number) => boolean) => {
    const due = bag.filter(({ on }) => isDue(on))
    bag = bag.filter(({ on }) => !isDue(on))
    for (const { act } of due) act()
  }
  return {
    counts,
    carry() {
      trip += 1
      for (const parcel of pickUpParcels(road)) {
        const fate = isHonest ? 'carried' : chance.weighted(faultWeights)
        counts[fate] += 1
        deliveries[fate](parcel)
      }
      unpack((on) => on <= trip)
    },
    stopFaults() {
      unpack(() => true)
      isHonest = true
    },
  }
}

/** One byte is another one, in either file. */
function damageParcel(parcel: CourierParcel, chance: SeededRandom): CourierParcel {
  const part = chance.weighted({ body: 1, env: 1 })
  const bytes = Buffer.from(parcel[part])
  const at = chance.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8))
  return { ...parcel, [part]: bytes }
}

/** One file alone, or one that ends early. */
function deliverHalf(road: CourierRoute, { stem, ...files }: CourierParcel, chance: SeededRandom): void {
  const part = chance.weighted({ body: 1, env: 1 })
  const isCut = chance.below(2) === 1
  const bytes = isCut ? files[part].subarray(0, chance.below(files[part].length)) : files[part]
  fs.writeFileSync(formatFilePath(road, stem, part), bytes)
}

/** Under the final names from the beginning, in pieces; the envelope may come first. */
function deliverSlowly(road: CourierRoute, { stem, ...files }: CourierParcel, chance: SeededRandom): (() => void)[] {
  const order =
    chance.weighted({ body: 1, env: 1 }) === 'body' ? (['body', 'env'] as const) : (['env', 'body'] as const)
  return order.flatMap((part) => {
    const piece = 1 + chance.below(files[part].length)
    const count = Math.ceil(files[part].length / piece)
    return Array.from({ length: count }, (_, at) => () => {
      const bytes = files[part].subarray(at * piece, (at + 1) * piece)
      fs.writeFileSync(formatFilePath(road, stem, part), bytes, { flag: at === 0 ? 'w' : 'a' })
    })
  })
}

function formatFilePath({ from, to }: CourierRoute, stem: string, part: 'body' | 'env'): string {
  return path.join(formatChannelFolder(to, from, 'in', 'new'), `${stem}.${part}.json`)
}

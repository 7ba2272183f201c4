// A carrier that nobody should hire: it loses, doubles, delays, damages and halves what it carries, and writes slowly in place.
import * as fs from 'node:fs'
import path from 'node:path'
import { bring, folderOf, type Parcel, pickUp, type Road } from '../sites/courier.ts'
import type { Chance } from '../support/chance.ts'

const fates = { carried: 55, lost: 10, doubled: 8, late: 12, damaged: 5, halved: 5, slow: 5 } as const
type Fate = keyof typeof fates

export type BadCarrier = {
  readonly counts: Record<Fate, number>
  /** One trip. */
  go(): void
  /** Brings all that is still in its bag, and is honest from then on. */
  reform(): void
}

export function badCarrier(road: Road, chance: Chance): BadCarrier {
  const counts = { carried: 0, lost: 0, doubled: 0, late: 0, damaged: 0, halved: 0, slow: 0 }
  let trip = 0
  let isHonest = false
  let bag: { readonly on: number; readonly act: () => void }[] = []
  const later = (act: () => void) => void bag.push({ on: trip + 1 + chance.below(12), act })
  const deeds: Readonly<Record<Fate, (parcel: Parcel) => void>> = {
    carried: (parcel) => bring(road, [parcel]),
    lost: () => undefined,
    doubled(parcel) {
      bring(road, [parcel])
      later(() => bring(road, [parcel]))
    },
    late: (parcel) => later(() => bring(road, [parcel])),
    damaged: (parcel) => bring(road, [damaged(parcel, chance)]),
    halved: (parcel) => halve(road, parcel, chance),
    slow(parcel) {
      for (const [place, write] of slowly(road, parcel, chance).entries()) bag.push({ on: trip + place, act: write })
    },
  }
  const unpack = (isDue: (on: number) => boolean) => {
    const due = bag.filter(({ on }) => isDue(on))
    bag = bag.filter(({ on }) => !isDue(on))
    for (const { act } of due) act()
  }
  return {
    counts,
    go() {
      trip += 1
      for (const parcel of pickUp(road)) {
        const fate = isHonest ? 'carried' : chance.weighted(fates)
        counts[fate] += 1
        deeds[fate](parcel)
      }
      unpack((on) => on <= trip)
    },
    reform() {
      unpack(() => true)
      isHonest = true
    },
  }
}

/** One byte is another one, in either file. */
function damaged(parcel: Parcel, chance: Chance): Parcel {
  const part = chance.weighted({ body: 1, env: 1 })
  const bytes = Buffer.from(parcel[part])
  const at = chance.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8))
  return { ...parcel, [part]: bytes }
}

/** One file alone, or one that ends early. */
function halve(road: Road, { stem, ...files }: Parcel, chance: Chance): void {
  const part = chance.weighted({ body: 1, env: 1 })
  const isCut = chance.below(2) === 1
  const bytes = isCut ? files[part].subarray(0, chance.below(files[part].length)) : files[part]
  fs.writeFileSync(fileOf(road, stem, part), bytes)
}

/** Under the final names from the beginning, in pieces; the envelope may come first. */
function slowly(road: Road, { stem, ...files }: Parcel, chance: Chance): (() => void)[] {
  const order =
    chance.weighted({ body: 1, env: 1 }) === 'body' ? (['body', 'env'] as const) : (['env', 'body'] as const)
  return order.flatMap((part) => {
    const piece = 1 + chance.below(files[part].length)
    const count = Math.ceil(files[part].length / piece)
    return Array.from({ length: count }, (_, at) => () => {
      const bytes = files[part].subarray(at * piece, (at + 1) * piece)
      fs.writeFileSync(fileOf(road, stem, part), bytes, { flag: at === 0 ? 'w' : 'a' })
    })
  })
}

function fileOf({ from, to }: Road, stem: string, part: 'body' | 'env'): string {
  return path.join(folderOf(to, from, 'in', 'new'), `${stem}.${part}.json`)
}

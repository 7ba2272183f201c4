// The ways in which messages of three sites can travel: the same federation is run over each of them.

import type { PackagedSite } from '../support/packaged-sites.ts'
import type { Person } from '../support/person.ts'
import type { Wanted } from '../support/requires.ts'
import { carry, type Road } from './courier.ts'

export type Three = readonly [alpha: PackagedSite, bravo: PackagedSite, charlie: PackagedSite]

export type Network = {
  /** A turn of whoever carries; what runs by itself needs none. */
  turn(): void
  /** Something that such a network must bear, in the middle of everything. */
  trouble(): Promise<void>
  end(): Promise<void>
}

export type Arm = {
  readonly name: string
  /** What it needs of the machine; nothing, unless said. */
  readonly wanted?: Wanted
  /** The sites are made and know each other; none runs. */
  prepare(sites: Three): Promise<Network>
}

export type Site = { readonly site: PackagedSite; readonly person: Person }

export const arms: readonly Arm[] = [{ name: 'filedrop', prepare: byCourier }]

/** A courier on each road, who takes a day off. */
async function byCourier(sites: Three): Promise<Network> {
  const roads: Road[] = sites.flatMap((from) => sites.filter((to) => to !== from).map((to) => ({ from, to })))
  let daysOff = 0
  return {
    turn() {
      if (daysOff-- > 0) return
      for (const road of roads) carry(road)
    },
    async trouble() {
      daysOff = 50
    },
    end: async () => undefined,
  }
}

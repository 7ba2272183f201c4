// The ways in which messages of three sites can travel: the same federation is run over each of them.
import * as fs from 'node:fs'
import path from 'node:path'
import { freePorts } from '../support/engines/server-process.ts'
import type { PackagedSite } from '../support/packaged-sites.ts'
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

export const arms: readonly Arm[] = [
  { name: 'filedrop', prepare: byCourier },
  { name: 'mtls', prepare: byTls },
]

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

/** Each pins the authorities of the others; in the middle of it one has a new certificate. */
async function byTls(sites: Three): Promise<Network> {
  const ports = await freePorts(sites.length)
  const authorityOf = ({ name, dir }: PackagedSite) => path.join(dir, '..', `${name}-ca.pem`)
  for (const site of sites) {
    await site.answered(['keys', 'ca', 'init'])
    await site.answered(['keys', 'cert', 'issue'])
    await site.answered(['keys', 'ca', 'show', '--out', authorityOf(site)])
  }
  for (const [at, site] of sites.entries()) {
    const peers = sites.map((peer, index) => [peer, ports[index]] as const).filter(([peer]) => peer !== site)
    const pins = peers.map(
      ([peer, port]) => `    ${peer.name}: { url: "https://127.0.0.1:${port}", ca_file: "${authorityOf(peer)}" }`,
    )
    addToProfile(site, ['mtls:', `  port: ${ports[at]}`, '  peers:', ...pins])
  }
  return {
    turn: () => undefined,
    async trouble() {
      await sites[1].answered(['keys', 'cert', 'renew'])
    },
    end: async () => undefined,
  }
}

function addToProfile({ dir }: PackagedSite, lines: readonly string[]): void {
  fs.appendFileSync(path.join(dir, 'profile.yaml'), `\n${lines.join('\n')}\n`)
}

// A site and peers that propose exchanges to it by hand: what a test needs to say anything in their name.
import { publicKeyOf } from '../../../daemon/kernel/agreed-key.ts'
import { digestOf } from '../../../daemon/kernel/canonical.ts'
import { type Agreement, agreementDigest } from '../../../daemon/roles/resolution/exchange/agreement.ts'
import { exchangePieces, exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { receive } from '../../../daemon/roles/resolution/exchange/receive.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import type { Person } from '../../support/person.ts'
import { type SiteWorld, siteWorld, until } from '../../support/site-world.ts'
import { type PeerSite, peerSite, shared, sharedLabel } from '../consensus/peer-messages.ts'
import { personLens } from './resolution-world.ts'

export type ExchangeWorld = {
  readonly world: SiteWorld
  readonly bravo: PeerSite
  readonly charlie: PeerSite
  /** Somebody of the site with a token of now. */
  ann(): Promise<Person>
  /** Status 200, or the code of the refusal. */
  say(peer: PeerSite, data: Readonly<Record<string, unknown>>, said?: object): Promise<string | number>
  stored(uid: string): Promise<Awaited<ReturnType<typeof exchangeOf>>>
  pieces(uid: string): Promise<number>
  end(): Promise<void>
}

export async function exchangeWorld(settings: Readonly<Record<string, unknown>> = {}): Promise<ExchangeWorld> {
  const [bravo, charlie] = [await peerSite('bravo', 'tenant-b'), await peerSite('charlie', 'tenant-c')]
  const profile = {
    platform: { roles: ['site', 'resolution'] },
    resolution: { port: 0, peer_exchanges_per_day: 1_000, ...settings },
  }
  const world = await siteWorld({ profile, peers: [bravo.pinned, charlie.pinned] })
  const carrier = await world.as({ roles: ['admin'], lifetime_s: 30 * 86_400 })
  await (await world.as()).ok(create, { body: personLens('1.0.0'), classification: shared })
  return {
    world,
    bravo,
    charlie,
    ann: () => world.as(),
    say: async (peer, data, said) => await carrier.refusal(receive, await peer.message('resolution', data, said)),
    stored: (uid) => exchangeOf(world, uid),
    pieces: (uid) => world.store('resolution').count(exchangePieces, { exchange_id: uid }),
    async end() {
      await world.end()
      for (const peer of [bravo, charlie]) peer.remove()
    },
  }
}

async function exchangeOf(world: SiteWorld, uid: string) {
  const doc = await world.store('resolution').get(exchanges, uid)
  if (!doc) throw new Error(`there is no ${uid}`)
  return doc.value
}

/** Once nothing of it is left to do. */
export function settled({ stored }: ExchangeWorld, uid: string, state: string) {
  return until(async () => {
    const value = await stored(uid)
    return value.state === state && value.owes === 0 && value
  })
}

let last = 0
export function agreementOf(more: Partial<Agreement> = {}): Agreement {
  return {
    exchange_id: `xchg_${String(++last).padStart(32, '0')}`,
    lens: 'people',
    lens_version: '1.0.0',
    lens_digest: digestOf(lens.parse(personLens('1.0.0'))),
    parties: ['bravo', 'alpha'],
    fields: ['given_name', 'surname'],
    privacy: 'psi',
    learns: ['alpha', 'bravo'],
    accept_dictionary_risk: false,
    max_set_size: 100,
    max_set_bytes: 1_000_000,
    seed: 1,
    ...more,
  }
}

export function proposalOf(agreement: Agreement, size = 3) {
  const key =
    agreement.privacy === 'clk' && agreement.parties[1] === 'alpha' ? publicKeyOf(Buffer.alloc(32, 7)) : undefined
  return { say: 'proposal', agreement, classification: sharedLabel, size, ...(key ? { key } : {}) }
}

/** Which exchange a message is about. */
export function about(agreement: Agreement) {
  return { exchange_id: agreement.exchange_id, agreement_digest: agreementDigest(agreement) }
}

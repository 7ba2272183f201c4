// A site and peers that propose exchanges to it by hand: what a test needs to say anything in their name.
import { deriveX25519PublicKey } from '../../../daemon/kernel/cryptography/key-agreement.ts'
import { canonicalDigest } from '../../../daemon/kernel/encoding/canonical-json.ts'
import {
  computeAgreementDigest,
  type ExchangeAgreement,
} from '../../../daemon/roles/resolution/exchange/agreement/agreement.ts'
import { exchangePieces, exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { receive } from '../../../daemon/roles/resolution/exchange/receive.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { createPeerSite, type PeerSite, sharedClassification, sharedLabel } from '../consensus/peer-site.ts'
import { buildPersonLens } from './resolution-site.ts'

export type ExchangeFixture = {
  readonly world: TestSite
  readonly bravo: PeerSite
  readonly charlie: PeerSite
  /** Somebody of the site with a token of now. */
  ann(): Promise<CheckedClient>
  /** Status 200, or the code of the refusal. */
  say(peer: PeerSite, data: Readonly<Record<string, unknown>>, changes?: object): Promise<string | number>
  stored(uid: string): Promise<Awaited<ReturnType<typeof readExchange>>>
  pieces(uid: string): Promise<number>
  end(): Promise<void>
}

export async function startExchangeFixture(settings: Readonly<Record<string, unknown>> = {}): Promise<ExchangeFixture> {
  const [bravo, charlie] = [await createPeerSite('bravo', 'tenant-b'), await createPeerSite('charlie', 'tenant-c')]
  const profile = {
    platform: { roles: ['site', 'resolution'] },
    resolution: { port: 0, peer_exchanges_per_day: 1_000, ...settings },
  }
  const world = await startTestSite({ profile, peers: [bravo.pinned, charlie.pinned] })
  const carrier = await world.as({ subject: 'role:site', roles: ['service'], tenant: '*', lifetime_s: 30 * 86_400 })
  await (await world.as()).ok(create, { body: buildPersonLens('1.0.0'), classification: sharedClassification })
  return {
    world,
    bravo,
    charlie,
    ann: () => world.as(),
    say: async (peer, data, changes) => await carrier.refusal(receive, await peer.message('resolution', data, changes)),
    stored: (uid) => readExchange(world, uid),
    pieces: (uid) => world.store('resolution').count(exchangePieces, { exchange_id: uid }),
    async end() {
      await world.end()
      for (const peer of [bravo, charlie]) peer.remove()
    },
  }
}

async function readExchange(world: TestSite, uid: string) {
  const doc = await world.store('resolution').get(exchanges, uid)
  if (!doc) throw new Error(`there is no ${uid}`)
  return doc.value
}

/** Once nothing of it is left to do. */
export function waitForExchangeState({ stored }: ExchangeFixture, uid: string, state: string) {
  return waitUntil(async () => {
    const value = await stored(uid)
    return value.state === state && value.job_due_ts === undefined && value
  })
}

let agreementCount = 0
export function buildAgreement(more: Partial<ExchangeAgreement> = {}): ExchangeAgreement {
  return {
    exchange_id: `xchg_${String(++agreementCount).padStart(32, '0')}`,
    lens: 'people',
    lens_version: '1.0.0',
    lens_digest: canonicalDigest(lens.parse(buildPersonLens('1.0.0'))),
    parties: ['bravo', 'alpha'],
    fields: ['given_name', 'surname'],
    privacy: 'psi',
    learns: ['alpha', 'bravo'],
    accept_dictionary_risk: false,
    max_set_size: 100,
    max_set_bytes: 1_000_000,
    seed: 1,
    text_form: 2,
    ...more,
  }
}

export function buildProposal(agreement: ExchangeAgreement, size = 3) {
  const key =
    agreement.privacy === 'clk' && agreement.parties[1] === 'alpha'
      ? deriveX25519PublicKey(Buffer.alloc(32, 7))
      : undefined
  return { say: 'proposal', agreement, classification: sharedLabel, size, ...(key ? { key } : {}) }
}

/** Which exchange a message is about. */
export function referToAgreement(agreement: ExchangeAgreement) {
  return { exchange_id: agreement.exchange_id, agreement_digest: computeAgreementDigest(agreement) }
}

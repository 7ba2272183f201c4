// Two sites in this process that have pinned each other: alpha is honest, and bravo lies.

import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { list as listContributions } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { ConsensusSession } from '../../../daemon/roles/consensus/session/model.ts'
import { simulatedClock } from '../../support/clock/simulated-clock.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { pinPeerKeys } from '../../support/site/pinned-site-pair.ts'
import { createTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { createInsiderPeer, type InsiderPeer } from '../insider/insider-peer.ts'
import { createTamperingCarrier, type TamperingCarrier } from './tampering-carrier.ts'

export const sharedClassification = { level: 'RESTRICTED', releasable_to: ['tenant-a', 'tenant-b', 'tenant-charlie'] }

export type LiarSites = {
  readonly alpha: TestSite
  readonly bravo: TestSite
  readonly carrier: TamperingCarrier
  /** A third site that alpha has pinned. */
  readonly charlie: InsiderPeer
  /** Bravo opens a session and invites alpha. */
  invite(policy?: { m: number; n: number }): Promise<string>
  contributeAtAlpha(id: string, pair_score: number): Promise<void>
  /** Beside alpha's, by a person of bravo. */
  contributeAtBravo(id: string, contributor_id: string, pair_score: number): Promise<ConsensusSession>
  readAtAlpha(id: string): Promise<ConsensusSession>
  /** Once the liar has its result ready. */
  waitForResult(): Promise<void>
  /** Audit records of an action at alpha's consensus role. */
  listAudit(action: string): Promise<string[]>
  end(): Promise<void>
}

const people = ['ann', 'ben', 'bea']
const contributors = Object.fromEntries(
  people.map((name) => [name, { signer_keys: [`${name}-1`], spoken_for_by: ['ann'] }]),
)
const profile = { consensus: { contributors } }

export async function startLiarSites(): Promise<LiarSites> {
  const clock = simulatedClock()
  const keys = fs.mkdtempSync(join(tmpdir(), 'liar-'))
  const charlie = await createInsiderPeer('charlie', join(keys, 'charlie'), () => '')
  const alpha = await createTestSite({ name: 'alpha', tenant: 'tenant-a', clock, profile, peers: [charlie.pinned] })
  const bravo = await createTestSite({ name: 'bravo', tenant: 'tenant-b', clock, profile })
  await pinPeerKeys(alpha, bravo)
  await pinPeerKeys(bravo, alpha)
  await Promise.all([alpha.start(), bravo.start()])
  const carrier = createTamperingCarrier(bravo, alpha)
  const [atAlpha, atBravo] = await Promise.all([alpha.as({ roles: ['admin'] }), bravo.as({ roles: ['admin'] })])
  const auditor = await alpha.token({ roles: ['auditor'] })
  const waitForMessage = (kind: string) => waitUntil(() => carrier.listWaiting().includes(kind))
  return {
    ...{ alpha, bravo, carrier, charlie },
    async invite(policy = { m: 2, n: 3 }) {
      const lens = { lens_id: 'lens-1', lens_version: '1', classification: sharedClassification }
      const { id } = await atBravo.ok(create, { ...lens, policy, invite: ['alpha'] })
      await waitForMessage('invitation')
      await carrier.carry()
      await waitUntil(() => atAlpha.ok(get, { id }).then(Boolean, () => false))
      return id
    },
    async contributeAtAlpha(id, pair_score) {
      await addContribution(atAlpha, id, 'ann', pair_score)
      await waitUntil(async () => (await atAlpha.ok(get, { id })).undelivered === 0)
      await waitUntil(async () => {
        carrier.carryBack()
        const { items } = await atBravo.ok(listContributions, { id, limit: 50 })
        return items.some(({ contributor_id }) => contributor_id === 'tenant-a')
      })
    },
    contributeAtBravo: (id, contributor_id, pair_score) => addContribution(atBravo, id, contributor_id, pair_score),
    readAtAlpha: (id) => atAlpha.ok(get, { id }),
    waitForResult: async () => {
      await waitForMessage('result')
    },
    async listAudit(action) {
      const path = `/api/v2/audit?limit=500&action=${action}`
      const { json } = await alpha.call('consensus', 'GET', path, undefined, { token: auditor })
      return (json as { items: { event: unknown }[] }).items.map(({ event }) => JSON.stringify(event))
    },
    async end() {
      await Promise.all([alpha.end(), bravo.end()])
      fs.rmSync(keys, { recursive: true })
    },
  }
}

function addContribution(person: CheckedClient, id: string, contributor_id: string, pair_score: number) {
  const opinion = { pair_score, accuracy: 1, credibility: 1, signer_key_id: `${contributor_id}-1` }
  return person.ok(contribute, { id, contributor_id, ...opinion, classification: sharedClassification })
}

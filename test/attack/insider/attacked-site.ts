// An honest site with all roles that take messages, and as many peers as there are attacks: each attack has a channel of
// its own, and the site lives through all of them.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { ChannelStatus } from '../../../daemon/kernel/messaging/channel-status.ts'
import { pageSchema } from '../../../daemon/kernel/operation/paging.ts'
import { list as listContributions } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { ConsensusSession } from '../../../daemon/roles/consensus/session/model.ts'
import { list as listChannels } from '../../../daemon/roles/site/channel/list.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { createInsiderPeer, type InsiderPeer } from './insider-peer.ts'

export type AttackedSite = {
  readonly site: TestSite
  /** A person of the site with all permissions. */
  readonly person: CheckedClient
  peer(name: string): InsiderPeer
  /** The id of a session that this site hosts, of two among three contributors, with the peer invited. */
  openSession(peer: InsiderPeer): Promise<string>
  readSession(id: string): Promise<ConsensusSession>
  /** Ids of the contributions to a session, which are the message ids of a peer's. */
  listContributionIds(id: string): Promise<string[]>
  /** Alice's opinion on a session. */
  contribute(id: string, pair_score?: number): Promise<ConsensusSession>
  /** Reasons in the quarantine of the peer's channel, with the code of a refused command, in alphabetical order. */
  listReasons(peer: InsiderPeer): string[]
  readChannel(peer: InsiderPeer): Promise<ChannelStatus>
  /** Targets and details of the audit records of an action, at the role that its first word names. */
  listAudit(role: string, action: string): Promise<string[]>
  end(): Promise<void>
}

const contributors = { alice: { signer_keys: ['alice-1'], spoken_for_by: ['ann'] } }

export async function startAttackedSite(names: readonly string[], sections = {}): Promise<AttackedSite> {
  const keys = fs.mkdtempSync(join(tmpdir(), 'insiders-'))
  let site: TestSite | undefined
  const freshFolder = (name: string) => foldersOf(site?.folder.filedrop ?? '', name).fresh
  const peers = new Map<string, InsiderPeer>()
  for (const name of names) peers.set(name, await createInsiderPeer(name, join(keys, name), () => freshFolder(name)))
  const started = await startTestSite({
    name: 'alpha',
    profile: {
      platform: { roles: ['site', 'consensus', 'resolution', 'intelligence'] },
      consensus: { contributors },
      resolution: { port: 0, peer_proposals: 3 },
      intelligence: { port: 0 },
      // The watchers alone: scans of all channels by the clock would take most of the time.
      filedrop: { rescan_ms: 600_000 },
      ...sections,
    },
    peers: [...peers.values()].map(({ pinned }) => pinned),
  })
  site = started
  const person = await started.as({ roles: ['admin'] })
  const audit = await started.token({ roles: ['auditor'] })
  return {
    site: started,
    person,
    peer: (name) => peers.get(name) ?? throwUnknownPeer(name),
    openSession: ({ name, tenant_id }) => openSharedSession(person, name, tenant_id),
    readSession: (id) => person.ok(get, { id }),
    listContributionIds: async (id) =>
      (await person.ok(listContributions, { id, limit: 500 })).items.map((each) => each.id),
    contribute: async (id, pair_score = 0.9) => {
      const { classification } = await person.ok(get, { id })
      const opinion = { pair_score, accuracy: 1, credibility: 1, signer_key_id: 'alice-1', classification }
      return await person.ok(contribute, { id, contributor_id: 'alice', ...opinion })
    },
    listReasons: ({ name }) => listQuarantineReasons(foldersOf(started.folder.filedrop, name).quarantine),
    async readChannel({ name }) {
      const { items } = await person.ok(listChannels, {})
      return items.find(({ peer, direction }) => peer === name && direction === 'in') ?? throwUnknownPeer(name)
    },
    async listAudit(role, action) {
      const { json, text } = await started.call(
        role,
        'GET',
        `/api/${role === 'intelligence' ? 'v1' : 'v2'}/audit?limit=500&action=${action}`,
        undefined,
        { token: audit },
      )
      const page = pageSchema(auditRecord).safeParse(json)
      if (!page.success) throw new Error(text)
      return page.data.items.map(({ event }) => JSON.stringify(event))
    },
    async end() {
      await started.end()
      fs.rmSync(keys, { recursive: true })
    },
  }
}

async function openSharedSession(person: CheckedClient, peer: string, tenant_id: string): Promise<string> {
  const { id } = await person.ok(create, {
    ...{ lens_id: 'lens-1', lens_version: '1', policy: { m: 2, n: 3 }, invite: [peer] },
    classification: { level: 'RESTRICTED', releasable_to: ['tenant-a', tenant_id] },
  })
  await waitUntil(async () => (await person.ok(get, { id })).undelivered === 0)
  return id
}

function listQuarantineReasons(folder: string): string[] {
  const reasons = fs.readdirSync(folder).filter((name) => name.endsWith('.reason.json'))
  return reasons
    .map((name) => JSON.parse(fs.readFileSync(join(folder, name), 'utf8')) as { reason: string; code?: string })
    .map(({ reason, code }) => (code === undefined ? reason : `${reason} ${code}`))
    .sort()
}

function throwUnknownPeer(name: string): never {
  throw new Error(`the site has no peer ${name}`)
}

// One scripted federation over every way that messages can travel, with deaths in the middle: the evidence is the same to the byte.
import { setInterval } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test as plain } from 'vitest'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { get as getEvidence } from '../../../daemon/roles/consensus/evidence/get.ts'
import type { EvidenceBlock } from '../../../daemon/roles/consensus/evidence/model.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import type { RunningDaemon } from '../../support/site/daemon-process.ts'
import {
  copyPackagedFederation,
  createPackagedFederation,
  type FederatedSite,
  type PackagedFederation,
} from '../../support/site/packaged-federation.ts'
import {
  contributeOpinion,
  createSpeaker,
  findSession,
  sharedClassification,
} from '../../support/site/packaged-site-pair.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type FederationNetwork, type FederationTransport, federationTransports } from './federation-transports.ts'

/** Three opinions at home and the votes of two invited sites: 1,000 contributions over all networks, in the soak over each. */
const sessions = Number(process.env.FEDERATED_SESSIONS ?? 50)
const n = 5
const lanes = 4
const tenth = sessions / 10
/** By number of the session: when it is opened, this happens. */
const deaths: ReadonlyMap<number, number> = new Map([
  [2 * tenth, 0],
  [5 * tenth, 1],
  [7 * tenth, 2],
])
const disruption_at = 6 * tenth

const names = ['alpha', 'bravo', 'charlie']
/** Each arm runs with a copy: all have the same keys, and so the same signed content. */
let pattern: Promise<PackagedFederation>
const worlds: PackagedFederation[] = []
beforeAll(async () => {
  pattern = createPackagedFederation(...names, 'hub')
  worlds.push(await pattern)
})
afterAll(async () => {
  for (const world of worlds) await world.end()
})

/** By the name of the arm: what remains of the evidence once names, times and signatures are taken out. */
const evidenceByTransport = new Map<string, readonly string[]>()

for (const arm of federationTransports) {
  const test = arm.requirement ? whenPresent(arm.requirement) : plain
  describe(arm.name, () => {
    test(`${sessions * n} contributions of three sites are ratified despite every death`, async () => {
      const federation = await Federation.over(arm)
      try {
        evidenceByTransport.set(arm.name, await federation.run())
      } finally {
        await federation.end()
      }
      expect(evidenceByTransport.get(arm.name)).toHaveLength(sessions)
    }, 600_000)
  })
}

plain('the evidence is the same, byte for byte, whichever way the messages went', () => {
  expect([...evidenceByTransport.keys()]).toEqual(
    federationTransports.filter(({ requirement }) => requirement?.isPresent ?? true).map(({ name }) => name),
  )
  const [first, ...others] = evidenceByTransport.values()
  for (const each of others) expect(each).toEqual(first)
})

class Federation {
  readonly #sites: readonly FederatedSite[]
  readonly #people: readonly CheckedClient[]
  readonly #network: FederationNetwork
  readonly #daemons: RunningDaemon[]

  private constructor(
    sites: readonly FederatedSite[],
    people: readonly CheckedClient[],
    network: FederationNetwork,
    daemons: RunningDaemon[],
  ) {
    this.#sites = sites
    this.#people = people
    this.#network = network
    this.#daemons = daemons
  }

  static async over(arm: FederationTransport): Promise<Federation> {
    const world = await copyPackagedFederation(await pattern)
    worlds.push(world)
    const sites = names.flatMap((name) => world.sites[name] ?? [])
    const network = await arm.prepare(sites, world)
    const people = await Promise.all(sites.map(createSpeaker))
    return new Federation(sites, people, network, await Promise.all(sites.map((site) => site.start())))
  }

  async run(): Promise<string[]> {
    const over = new AbortController()
    const turning = this.#turning(over.signal)
    const found: string[] = []
    try {
      await Promise.all(
        Array.from({ length: lanes }, async (_, lane) => {
          for (let at = lane; at < sessions; at += lanes) found[at] = await this.#session(at)
        }),
      )
    } finally {
      over.abort()
      await turning
    }
    return found
  }

  async end(): Promise<void> {
    await Promise.all(this.#daemons.map((daemon) => daemon.kill()))
    await this.#network.end()
  }

  async #turning(signal: AbortSignal): Promise<void> {
    for await (const _ of setInterval(20)) {
      if (signal.aborted) return
      this.#network.carry()
    }
  }

  /** From its first word to its evidence. */
  async #session(at: number): Promise<string> {
    const [home, ...invitees] = this.#people as [CheckedClient, CheckedClient, CheckedClient]
    await this.#happen(at)
    const key = { 'idempotency-key': `session-${at}-of-the-federation` }
    const subject = { kind: 'entity_match', left: `vessel/${at}`, right: `hull/${at}` }
    const input = { lens_id: 'vessel-identity', lens_version: '1', subject, policy: buildPolicy(at) }
    const { id } = await retryUnanswered(() =>
      home.ok(create, { ...input, classification: sharedClassification, invite: ['bravo', 'charlie'] }, key),
    )
    for (const [index, name] of ['alice', 'bob', 'carol'].entries()) {
      await retryUnanswered(() => contributeOpinion(home, id, name, computeScore(at, index)))
    }
    await Promise.all(
      invitees.map(async (invitee, index) => {
        await waitLong(() => findSession(invitee, id).catch(ignoreConnectionFailure))
        await retryUnanswered(() => contributeOpinion(invitee, id, 'bob', computeScore(at, 3 + index)))
      }),
    )
    const block_id = await waitLong(async () => {
      const session = await findSession(home, id).catch(ignoreConnectionFailure)
      return session?.state === 'RATIFIED' && session.evidence_block_id
    })
    return normaliseEvidence(await retryUnanswered(() => home.ok(getEvidence, { block_id })))
  }

  async #happen(at: number): Promise<void> {
    if (at === disruption_at) await this.#network.disrupt()
    const dying = deaths.get(at)
    if (dying === undefined) return
    await this.#daemons[dying]?.kill()
    this.#daemons[dying] = await (this.#sites[dying] as FederatedSite).start()
  }
}

/** Every contributor must contribute, so that the order of arrival cannot matter. */
function buildPolicy(at: number) {
  const combination_method = at % 2 === 0 ? ('weighted_average' as const) : ('dempster_shafer' as const)
  return { m: n, n, combination_method }
}

/** Numbers whose sum depends on the order in which they are added. */
function computeScore(at: number, index: number): number {
  return 0.9 + ((at * 7 + index * 3) % 10) / 101
}

/** The content of the evidence without the parts that must differ: identifiers, times, order, and values derived from them. */
function normaliseEvidence({ content }: EvidenceBlock): string {
  if (content.v !== 2) throw new Error(`evidence of version ${content.v}`)
  const { session_id: _id, decided_at: _at, parent_block_ids: parents, record, contributions, ...rest } = content
  return canonicalJson({
    ...rest,
    contributions: contributions.map(({ msg_id, ordinal: _ordinal, proof, ...each }) => ({
      ...each,
      by_message: msg_id !== undefined,
      has_proof: proof !== undefined,
    })),
    parents: parents.length,
    recorded: record.contributions,
  })
}

const retryUnanswered = <T>(act: () => Promise<T>): Promise<T> => waitLong(() => act().catch(ignoreConnectionFailure))

/** As long as it takes: a machine that runs a broker and three sites besides is slow. */
async function waitLong<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const found = await waitUntil(look).catch((error: unknown) => {
      if (tries === 12) throw error
    })
    if (found) return found as T
  }
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
function ignoreConnectionFailure(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}

// A site with enrolled contributors, and helpers that act on its sessions.
import { afterAll, beforeAll, expect } from 'vitest'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { ConsensusSession } from '../../../daemon/roles/consensus/session/model.ts'
import type { QuorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, type TestSiteOptions, waitUntil } from '../../support/site/test-site.ts'

export type PolicyInput = Partial<QuorumPolicy> & Pick<QuorumPolicy, 'm' | 'n'>

export type ConsensusSiteOptions = TestSiteOptions & {
  /** Enrolled with the key `<name>-1`; ann and olga may speak for each. */
  readonly contributors?: readonly string[]
  /** Further settings of the consensus role. */
  readonly consensus?: Readonly<Record<string, unknown>>
}

export const speakers = ['ann', 'olga']

export function startConsensusSite({ contributors = [], consensus = {}, ...options }: ConsensusSiteOptions = {}) {
  const enrolled = Object.fromEntries(
    contributors.map((name) => [name, { signer_keys: [`${name}-1`], spoken_for_by: speakers }]),
  )
  const { contributors: more, ...settings } = consensus
  const section = { ...settings, contributors: { ...enrolled, ...(more as Record<string, unknown> | undefined) } }
  return startTestSite({ ...options, profile: { ...options.profile, consensus: section } })
}

/** One site for all tests of a file, which must end without a logged error. */
export function setUpConsensusSite(
  options: () => ConsensusSiteOptions | Promise<ConsensusSiteOptions>,
): () => TestSite {
  let world: TestSite | undefined
  beforeAll(async () => {
    world = await startConsensusSite(await options())
  })
  afterAll(async () => {
    await world?.end()
    expect(world?.loggedErrors ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}

/** A person with all permissions of the consensus role. */
export function createOperator(world: TestSite): Promise<CheckedClient> {
  return world.as({ subject: 'olga', roles: ['operator'] })
}

export function buildContributorNames(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `c${at + 1}`)
}

export function buildSessionInput(policy: PolicyInput, classification = 'UNCLASSIFIED') {
  return { lens_id: 'lens-1', lens_version: '3', policy, classification }
}

export function buildOpinionInput(
  contributor_id: string,
  pair_score: number,
  [accuracy, credibility]: readonly [number, number] = [1, 1],
  classification = 'UNCLASSIFIED',
) {
  const signer_key_id = `${contributor_id}-1`
  return { contributor_id, pair_score, accuracy, credibility, signer_key_id, classification }
}

export function openSession(
  person: CheckedClient,
  policy: PolicyInput,
  classification?: string,
): Promise<ConsensusSession> {
  return person.ok(create, buildSessionInput(policy, classification))
}

/** The session once its outbox is empty. */
export function waitUntilDelivered(person: CheckedClient, id: string): Promise<ConsensusSession> {
  return waitUntil(async () => {
    const session = await person.ok(get, { id })
    return session.undelivered === 0 && session
  })
}

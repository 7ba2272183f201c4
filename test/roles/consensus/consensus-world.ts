// A site with enrolled contributors, and the short ways in which tests speak to its sessions.
import { afterAll, beforeAll, expect } from 'vitest'
import type { QuorumPolicy } from '../../../daemon/kernel/quorum-policy.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { Session } from '../../../daemon/roles/consensus/session/model.ts'
import type { Person } from '../../support/person.ts'
import { type SiteWorld, siteWorld, until, type WorldOptions } from '../../support/site-world.ts'

export type AskedPolicy = Partial<QuorumPolicy> & Pick<QuorumPolicy, 'm' | 'n'>

export type ConsensusOptions = WorldOptions & {
  /** Enrolled with the key `<name>-1`; ann and olga may speak for each. */
  readonly contributors?: readonly string[]
  /** Further settings of the consensus role. */
  readonly consensus?: Readonly<Record<string, unknown>>
}

export const speakers = ['ann', 'olga']

export function consensusWorld({ contributors = [], consensus = {}, ...options }: ConsensusOptions = {}) {
  const enrolled = Object.fromEntries(
    contributors.map((name) => [name, { signer_keys: [`${name}-1`], spoken_for_by: speakers }]),
  )
  const { contributors: more, ...settings } = consensus
  const section = { ...settings, contributors: { ...enrolled, ...(more as Record<string, unknown> | undefined) } }
  return siteWorld({ ...options, profile: { ...options.profile, consensus: section } })
}

/** One world for all tests of a file, which must end without a logged error. */
export function sharedWorld(options: () => ConsensusOptions | Promise<ConsensusOptions>): () => SiteWorld {
  let world: SiteWorld | undefined
  beforeAll(async () => {
    world = await consensusWorld(await options())
  })
  afterAll(async () => {
    await world?.end()
    expect(world?.faults ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}

/** Someone who may do all that consensus has. */
export function operatorOf(world: SiteWorld): Promise<Person> {
  return world.as({ subject: 'olga', roles: ['operator'] })
}

export function names(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `c${at + 1}`)
}

export function asked(policy: AskedPolicy, classification = 'UNCLASSIFIED') {
  return { lens_id: 'lens-1', lens_version: '3', policy, classification }
}

export function opinion(
  contributor_id: string,
  pair_score: number,
  [accuracy, credibility]: readonly [number, number] = [1, 1],
  classification = 'UNCLASSIFIED',
) {
  const signer_key_id = `${contributor_id}-1`
  return { contributor_id, pair_score, accuracy, credibility, signer_key_id, classification }
}

export function open(person: Person, policy: AskedPolicy, classification?: string): Promise<Session> {
  return person.ok(create, asked(policy, classification))
}

/** The session once everything that it owed has been delivered. */
export function delivered(person: Person, id: string): Promise<Session> {
  return until(async () => {
    const session = await person.ok(get, { id })
    return session.undelivered === 0 && session
  })
}

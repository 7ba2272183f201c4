// The shared steps of tests of several sites: sessions that alpha opens and bravo is invited to.

import { expect } from 'vitest'
import { get as getEvidence } from '../../../daemon/roles/consensus/evidence/get.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { ConsensusSession } from '../../../daemon/roles/consensus/session/model.ts'
import { list as listChannels } from '../../../daemon/roles/site/channel/list.ts'
import type { CheckedClient } from '../http/checked-client.ts'
import {
  type CourierParcel,
  type CourierRoute,
  carryParcels,
  deliverParcels,
  pickUpParcels,
  readSessionId,
} from './courier.ts'
import {
  createPackagedFederation,
  type FederatedSite,
  findSite,
  type PackagedFederation,
} from './packaged-federation.ts'
import { waitUntil } from './test-site.ts'

/** May cross to every site of the tests. */
export const sharedClassification = { level: 'RESTRICTED', releasable_to: ['alpha', 'bravo', 'charlie'] }

export type PackagedSitePair = {
  readonly world: PackagedFederation
  readonly alpha: FederatedSite
  readonly bravo: FederatedSite
  /** Operators with the right to speak for alice, bob and carol. */
  readonly atAlpha: CheckedClient
  readonly atBravo: CheckedClient
  readonly toBravo: CourierRoute
  readonly toAlpha: CourierRoute
}

/** Alpha and bravo, and the other named sites; not started. */
export async function createPackagedSitePair(...more: readonly string[]): Promise<PackagedSitePair> {
  return await openPackagedSitePair(await createPackagedFederation('alpha', 'bravo', ...more))
}

export async function openPackagedSitePair(world: PackagedFederation): Promise<PackagedSitePair> {
  const [alpha, bravo] = [findSite(world, 'alpha'), findSite(world, 'bravo')]
  const [atAlpha, atBravo] = await Promise.all([createSpeaker(alpha), createSpeaker(bravo)])
  return {
    world,
    alpha,
    bravo,
    atAlpha,
    atBravo,
    toBravo: { from: alpha, to: bravo },
    toAlpha: { from: bravo, to: alpha },
  }
}

/** The subject that the profile lets speak for its contributors, with every right that a test needs. */
export function createSpeaker(site: FederatedSite): Promise<CheckedClient> {
  return site.as('demo', ['operator', 'admin'])
}

/** Opens a session that needs alice of alpha and the voice of bravo, and gives alice's opinion. */
export async function openInvitedSession(person: CheckedClient, alice: number, invite = ['bravo']): Promise<string> {
  const subject = { kind: 'entity_match', left: 'vessel/a', right: 'vessel/b' }
  const policy = { m: 2, n: 2 }
  const { id } = await person.ok(create, {
    lens_id: 'vessel-identity',
    lens_version: '1',
    subject,
    policy,
    classification: sharedClassification,
    invite,
  })
  await contributeOpinion(person, id, 'alice', alice)
  return id
}

/** One contributor's opinion; a repeat of it changes nothing. */
export function contributeOpinion(
  person: CheckedClient,
  id: string,
  contributor_id: string,
  pair_score: number,
): Promise<ConsensusSession> {
  const opinion = { pair_score, accuracy: 0.95, credibility: 0.9, signer_key_id: `${contributor_id}-1` }
  return person.ok(contribute, { id, contributor_id, ...opinion, classification: sharedClassification })
}

/** Undefined while the site does not know the session. */
export async function findSession(person: CheckedClient, id: string): Promise<ConsensusSession | undefined> {
  return (await person.call(get, { id })).value
}

export function waitForState(
  person: CheckedClient,
  id: string,
  state: ConsensusSession['state'],
): Promise<ConsensusSession> {
  return waitUntil(async () => {
    const session = await findSession(person, id)
    return session?.state === state && session
  })
}

/** A session that both know, with alice's opinion, and at bravo a question to bob. */
export async function openSharedSession({ atAlpha, atBravo, toBravo }: PackagedSitePair): Promise<string> {
  const id = await openInvitedSession(atAlpha, 0.94)
  await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'PROPOSED')
  return id
}

/** The same, with bob's word on its way: in the courier's bag. */
export async function answerInvitation(pair: PackagedSitePair): Promise<{ id: string; parcel: CourierParcel }> {
  const id = await openSharedSession(pair)
  await contributeOpinion(pair.atBravo, id, 'bob', 0.92)
  return { id, parcel: await catchSessionParcel(pair.toAlpha, id) }
}

/** Carries a session from its opening to the end, and checks that both sites hold the same evidence. */
export async function expectSharedEvidence(pair: PackagedSitePair): Promise<void> {
  const { atAlpha, atBravo, toBravo, toAlpha } = pair
  const id = await openInvitedSession(atAlpha, 0.94)
  await carryUntil(toBravo, () => findSession(atBravo, id))
  await contributeOpinion(atBravo, id, 'bob', 0.92)
  await carryUntil(toAlpha, async () => (await findSession(atAlpha, id))?.state === 'RATIFIED')
  await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'RATIFIED')
  const { evidence_block_id: block_id = '' } = await waitUntilDelivered(atAlpha, id)
  expect(await atBravo.ok(getEvidence, { block_id })).toEqual(await atAlpha.ok(getEvidence, { block_id }))
}

/** The message about this session, in the courier's bag. */
export function catchSessionParcel(road: CourierRoute, id: string): Promise<CourierParcel> {
  return catchParcel(road, (parcel) => readSessionId(parcel) === id)
}

/** Keeps this one back, once it is ready. All else that is on its way, keys that were announced say, is brought. */
export function catchParcel(road: CourierRoute, isIt: (parcel: CourierParcel) => boolean): Promise<CourierParcel> {
  return waitUntil(() => {
    const parcels = pickUpParcels(road)
    deliverParcels(
      road,
      parcels.filter((each) => !isIt(each)),
    )
    return parcels.find(isIt)
  })
}

/** Carries on one road until this holds. */
export function carryUntil<T>(road: CourierRoute, holds: () => Promise<T | undefined | false>): Promise<T> {
  return waitUntil(() => {
    carryParcels(road)
    return holds()
  })
}

/** Waits until the carriers have all pending messages of a session. */
export function waitUntilDelivered(person: CheckedClient, id: string): Promise<ConsensusSession> {
  return waitUntil(async () => {
    const session = await findSession(person, id)
    return session?.undelivered === 0 && session
  })
}

export async function findChannel(person: CheckedClient, peer: string, direction: 'in' | 'out') {
  const { items } = await person.ok(listChannels, {})
  const found = items.find((each) => each.peer === peer && each.direction === direction)
  if (!found) throw new Error(`there is no channel ${direction} with ${peer}`)
  return found
}

// What the tests of several sites ask each other: sessions that alpha opens and bravo is invited to.

import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import { get } from '../../daemon/roles/consensus/session/get.ts'
import type { Session } from '../../daemon/roles/consensus/session/model.ts'
import { list as listChannels } from '../../daemon/roles/site/channel/list.ts'
import { type PackagedSite, type PackagedSites, packagedSites } from '../support/packaged-sites.ts'
import type { Person } from '../support/person.ts'
import { until } from '../support/site-world.ts'
import { bring, carry, type Parcel, pickUp, type Road, sessionIn } from './courier.ts'

/** May cross to every site of the tests. */
export const shared = { level: 'RESTRICTED', releasable_to: ['alpha', 'bravo', 'charlie'] }

export type Two = {
  readonly world: PackagedSites
  readonly alpha: PackagedSite
  readonly bravo: PackagedSite
  /** Operators with the right to speak for alice, bob and carol. */
  readonly atAlpha: Person
  readonly atBravo: Person
  readonly there: Road
  readonly back: Road
}

/** Alpha and bravo, and whoever else is named; not started. */
export async function twoSites(...more: readonly string[]): Promise<Two> {
  return await twoOf(await packagedSites('alpha', 'bravo', ...more))
}

export async function twoOf(world: PackagedSites): Promise<Two> {
  const { alpha, bravo } = world.sites
  if (!alpha || !bravo) throw new Error('two sites were made')
  const [atAlpha, atBravo] = await Promise.all([personOf(alpha), personOf(bravo)])
  return { world, alpha, bravo, atAlpha, atBravo, there: { from: alpha, to: bravo }, back: { from: bravo, to: alpha } }
}

/** The subject that the profile lets speak for its contributors, with every right that a test needs. */
export function personOf(site: PackagedSite): Promise<Person> {
  return site.as('demo', ['operator', 'admin'])
}

/** Opens a session that needs alice of alpha and the voice of bravo, and gives alice's opinion. */
export async function ask(person: Person, alice: number, invite = ['bravo']): Promise<string> {
  const subject = { kind: 'entity_match', left: 'vessel/a', right: 'vessel/b' }
  const policy = { m: 2, n: 2 }
  const { id } = await person.ok(create, {
    lens_id: 'vessel-identity',
    lens_version: '1',
    subject,
    policy,
    classification: shared,
    invite,
  })
  await say(person, id, 'alice', alice)
  return id
}

/** One contributor's opinion; a repeat of it changes nothing. */
export function say(person: Person, id: string, contributor_id: string, pair_score: number): Promise<Session> {
  const opinion = { pair_score, accuracy: 0.95, credibility: 0.9, signer_key_id: `${contributor_id}-1` }
  return person.ok(contribute, { id, contributor_id, ...opinion, classification: shared })
}

/** Undefined while the site does not know the session. */
export async function seen(person: Person, id: string): Promise<Session | undefined> {
  return (await person.ask(get, { id })).value
}

export function inState(person: Person, id: string, state: Session['state']): Promise<Session> {
  return until(async () => {
    const session = await seen(person, id)
    return session?.state === state && session
  })
}

/** A session that both know and alice has spoken in, at bravo as a question to bob. */
export async function invited({ atAlpha, atBravo, there }: Two): Promise<string> {
  const id = await ask(atAlpha, 0.94)
  await carryUntil(there, async () => (await seen(atBravo, id))?.state === 'PROPOSED')
  return id
}

/** The same, with bob's word on its way: in the courier's bag. */
export async function spoken(two: Two): Promise<{ id: string; parcel: Parcel }> {
  const id = await invited(two)
  await say(two.atBravo, id, 'bob', 0.92)
  return { id, parcel: await parcelOf(two.back, id) }
}

/** The message about this session, in the courier's bag. */
export function parcelOf(road: Road, id: string): Promise<Parcel> {
  return caught(road, (parcel) => sessionIn(parcel) === id)
}

/** Keeps this one back, once it is ready. All else that is on its way, keys that were announced say, is brought. */
export function caught(road: Road, isIt: (parcel: Parcel) => boolean): Promise<Parcel> {
  return until(() => {
    const parcels = pickUp(road)
    bring(
      road,
      parcels.filter((each) => !isIt(each)),
    )
    return parcels.find(isIt)
  })
}

/** Carries on one road until this holds. */
export function carryUntil<T>(road: Road, holds: () => Promise<T | undefined | false>): Promise<T> {
  return until(() => {
    carry(road)
    return holds()
  })
}

/** All that a session owes has been handed over to the carriers. */
export function delivered(person: Person, id: string): Promise<Session> {
  return until(async () => {
    const session = await seen(person, id)
    return session?.undelivered === 0 && session
  })
}

export async function channelOf(person: Person, peer: string, direction: 'in' | 'out') {
  const { items } = await person.ok(listChannels, {})
  const found = items.find((each) => each.peer === peer && each.direction === direction)
  if (!found) throw new Error(`there is no channel ${direction} with ${peer}`)
  return found
}

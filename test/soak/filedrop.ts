// Two packaged daemons, a carrier that damages its files, and kill -9: once all is repaired, everything has happened once.
import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import { type SeededRandom, seededRandom } from '../support/random/seeded-random.ts'
import { formatChannelFolder, listQuarantined } from '../support/site/courier.ts'
import type { RunningDaemon } from '../support/site/daemon-process.ts'
import {
  copyPackagedFederation,
  createPackagedFederation,
  type FederatedSite,
  type PackagedFederation,
  pinFederatedPeer,
  pinnedCeiling,
} from '../support/site/packaged-federation.ts'
import { findSession, openPackagedSitePair, type PackagedSitePair } from '../support/site/packaged-site-pair.ts'
import { createFaultyCarrier, type FaultyCarrier } from './faulty-carrier.ts'
import {
  advanceSession,
  ignoreConnectionFailure,
  readChannels,
  type SoakSession,
  type SoakSite,
  type SoakSites,
} from './soak-sessions.ts'

const session_count = 12
/** Of each site: one death less than those that would make a message POISON. */
const max_kills = 2
/** Trips before missing messages are requested, and requests before the carrier becomes faithful. */
const max_trips = 80
const faulty_repair_count = 1
const trips_per_repair = 20
const timeout_ms = 60_000

/** Made by the first seed; every seed begins with a copy, before anything was ever sent. */
let pattern: Promise<PackagedFederation> | undefined

/** Inventories come due all the while: of what a channel ends with nothing else would tell that it never arrived. */
async function createPattern(): Promise<PackagedFederation> {
  const world = await createPackagedFederation('alpha', 'bravo')
  const sites = Object.values(world.sites)
  for (const site of sites) {
    for (const peer of sites.filter((each) => each !== site)) {
      await site.runJson(['peers', 'remove', peer.name, '--yes'])
      await pinFederatedPeer(site, peer, pinnedCeiling, ['--inventory-interval', '2s'])
    }
  }
  return world
}

export const usual_seeds = 200

/** After the last seed. */
export async function end(): Promise<void> {
  await (await pattern)?.end()
}

/** The events, counted. Throws when anything was lost, done twice or left unexplained; the folders stay then. */
export async function soak(seed: number): Promise<Record<string, number>> {
  pattern ??= createPattern()
  const two = await openPackagedSitePair(await copyPackagedFederation(await pattern))
  try {
    const counts = await new FiledropSoak(two, seededRandom(seed)).toItsEnd()
    await two.world.end()
    return counts
  } catch (error) {
    await two.world.stopAll()
    throw new Error(`seed ${seed} failed; its folders are ${two.world.dir}`, { cause: error })
  }
}

class FiledropSoak {
  readonly #chance: SeededRandom
  readonly #ends: SoakSites
  readonly #questions: SoakSession[]
  readonly #carriers: readonly FaultyCarrier[]
  readonly #daemons = new Map<FederatedSite, RunningDaemon>()
  #kills = 0
  #resent = 0

  constructor({ alpha, bravo, atAlpha, atBravo, toBravo, toAlpha }: PackagedSitePair, by: SeededRandom) {
    this.#chance = by
    const home: SoakSite = { site: alpha, person: atAlpha, road: toAlpha, peer: 'bravo' }
    const away: SoakSite = { site: bravo, person: atBravo, road: toBravo, peer: 'alpha' }
    this.#ends = [home, away]
    this.#carriers = [createFaultyCarrier(toBravo, by), createFaultyCarrier(toAlpha, by)]
    this.#questions = Array.from({ length: session_count }, (_, at) => {
      const [proposer, invitee] = at % 2 === 0 ? [home, away] : [away, home]
      return {
        opener: proposer,
        invitee,
        key: { 'idempotency-key': `question-${at}-of-this-soak` },
        ...{ id: '', opinionCount: 0, isOver: false },
      }
    })
  }

  async toItsEnd(): Promise<Record<string, number>> {
    await Promise.all(this.#ends.map(({ site }) => this.#start(site)))
    await this.#trouble()
    await this.#repair()
    await Promise.all(this.#ends.map((end) => this.#judge(end)))
    const [one, other] = this.#carriers.map(({ counts }) => Object.entries(counts))
    const carried = (one ?? []).map(([fate, count], at) => [fate, count + (other?.[at]?.[1] ?? 0)] as const)
    return { ...Object.fromEntries(carried), killed: this.#kills, resent: this.#resent }
  }

  async #start(site: FederatedSite): Promise<void> {
    this.#daemons.set(site, await site.start())
  }

  async #trouble(): Promise<void> {
    const deaths = this.#ends.flatMap(({ site }) =>
      Array.from({ length: this.#chance.below(max_kills + 1) }, () => ({ site, on: 5 + this.#chance.below(60) })),
    )
    const dying = new Map<FederatedSite, Promise<void>>()
    for (let trip = 0; trip < max_trips && this.#questions.some(({ opinionCount }) => opinionCount < 2); trip++) {
      for (const carrier of this.#carriers) carrier.carry()
      for (const { site } of deaths.filter(({ on }) => on === trip)) {
        dying.set(
          site,
          (dying.get(site) ?? Promise.resolve()).then(() => this.#killSoon(site)),
        )
      }
      const some = this.#questions.filter(() => this.#chance.below(3) === 0)
      await Promise.all([pause(10), ...some.map((question) => advanceSession(question).catch(ignoreConnectionFailure))])
    }
    await Promise.all(dying.values())
  }

  /** Not at a moment of ours: what it does then is its own affair. */
  async #killSoon(site: FederatedSite): Promise<void> {
    await pause(this.#chance.below(40))
    await this.#daemons.get(site)?.kill()
    this.#kills += 1
    await pause(this.#chance.below(100))
    await this.#start(site)
  }

  /** As operators would: missing messages are requested by receipts, and unnoticed ones by their numbers. */
  async #repair(): Promise<void> {
    const deadline = performance.now() + timeout_ms
    for (let trip = 0; ; trip++) {
      for (const carrier of this.#carriers) carrier.carry()
      await Promise.all(this.#questions.map(advanceSession))
      const open = await this.#whatIsOpen()
      if (open.length === 0) return
      assert.ok(performance.now() < deadline, `it was never repaired: ${open.join('; ')}`)
      if (trip % trips_per_repair === 0) await Promise.all(this.#ends.map((end) => this.#askFor(end)))
      if (trip === faulty_repair_count * trips_per_repair) for (const carrier of this.#carriers) carrier.stopFaults()
      await pause(20)
    }
  }

  /** The cheap questions first, and nothing twice that cannot change any more. */
  async #whatIsOpen(): Promise<string[]> {
    const unanswered = this.#questions.filter(({ opinionCount }) => opinionCount < 2)
    if (unanswered.length > 0) return unanswered.map(({ id }) => `${id} is not answered`)
    for (const question of this.#questions.filter(({ isOver }) => !isOver)) {
      const { opener, invitee, id } = question
      const states = await Promise.all([findSession(opener.person, id), findSession(invitee.person, id)])
      question.isOver = states.every((each) => each?.state === 'RATIFIED' && each.undelivered === 0)
      if (!question.isOver) return [`${id} of ${opener.site.name} is ${states.map((each) => each?.state)}`]
    }
    const open: string[] = []
    for (const end of this.#ends) {
      const { out, into } = await readChannels(end, this.#otherOf(end))
      const isThrough = into.gaps === 0 && into.backlog === 0 && into.highest_seq === out.highest_seq
      end.settledNumber = out.highest_seq
      if (!isThrough || out.backlog > 0) {
        open.push(`${end.site.name} has ${JSON.stringify(into)} of ${JSON.stringify(out)}`)
      }
    }
    return open
  }

  #otherOf({ site }: SoakSite): SoakSite {
    const [one, other] = this.#ends
    return one.site === site ? other : one
  }

  /** From the site that this end hears: what it knows to be missing, what came last, and what lies here by halves. */
  async #askFor(end: SoakSite): Promise<void> {
    const other = this.#otherOf(end)
    const { out, into } = await readChannels(end, other)
    if (into.gaps > 0) {
      const file = path.join(path.dirname(end.site.dir), `gaps-${end.site.name}.json`)
      fs.rmSync(file, { force: true })
      await end.site.runJson(['filedrop', 'gaps', end.peer, '--out', file])
      await this.#resend(other.site, ['--receipt', file])
    }
    const lying = fs.readdirSync(formatChannelFolder(end.site, other.site, 'in', 'new'))
    const halves = lying.map((name) => Number(/^\d{8}-(\d{16})\./.exec(name)?.[1]))
    assert.ok(halves.every(Number.isInteger), `${end.site.name} was brought ${lying}`)
    const first = Math.min(into.highest_seq + 1, ...halves)
    const last = Math.max(into.highest_seq < out.highest_seq ? out.highest_seq : 0, ...halves)
    if (first > last) return
    await this.#resend(other.site, [other.peer, '--first', String(first), '--last', String(last)])
  }

  async #resend(site: FederatedSite, words: readonly string[]): Promise<void> {
    const { resent } = await site.runJson(['filedrop', 'resend', ...words])
    this.#resent += resent
  }

  async #judge(end: SoakSite): Promise<void> {
    const { site, person } = end
    const { out, into } = await readChannels(end, this.#otherOf(end))
    assert.deepEqual([into.state, out.state, into.received], ['open', 'open', end.settledNumber], 'each number came in')
    for (const { opener, invitee, id } of this.#questions) {
      const speakers = (await person.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id)
      const expected = end === opener ? ['alice', invitee.site.name] : [invitee.site.name]
      assert.deepEqual(speakers.toSorted(), expected.toSorted(), `${id} at ${site.name} has one word of each`)
    }
    assert.equal((await site.runJson(['audit', 'verify'])).whole, true, `the record of ${site.name} is whole`)
    assert.equal((await site.runJson(['store', 'check'])).sound, true, `the data of ${site.name} is sound`)
    const applied = await listApplied(site)
    assert.equal(new Set(applied).size, applied.length, `${site.name} applied each message once`)
    assert.equal(applied.length, end.settledNumber, `${site.name} applied every message`)
    const reasons = listQuarantined(end.road).map(({ reason }) => reason)
    assert.deepEqual(
      reasons.filter((reason) => !explainedReasons.has(reason)),
      [],
      `the quarantine of ${site.name}`,
    )
  }
}

/** The effects that damage may have on a message; all else would be blamed on an innocent sender. */
const explainedReasons = new Set([
  ...['BAD_JSON', 'DUP_KEY', 'UNKNOWN_FIELD', 'BAD_SIG', 'UNKNOWN_KEY', 'TYPE', 'BODY_DIGEST', 'TRUNCATED'],
])

async function listApplied(site: FederatedSite): Promise<string[]> {
  const { stdout } = await site.run(['audit', 'export'])
  const events = stdout
    .trimEnd()
    .split('\n')
    .flatMap((line) => (JSON.parse(line).event ?? []) as { action: string; target: string })
  return events.filter(({ action }) => action === 'filedrop.message.applied').map(({ target }) => target)
}

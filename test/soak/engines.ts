// Two packaged sites on real engines: documents in OpenSearch, counters in Redis, people of Keycloak, messages by RabbitMQ;
// everything is killed and started again while sessions are opened.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import { keycloakSecrets } from '../support/engines/keycloak-realm.ts'
import type { ServerProcess } from '../support/engines/server-process.ts'
import { type SeededRandom, seededRandom } from '../support/random/seeded-random.ts'
import type { RunningDaemon } from '../support/site/daemon-process.ts'
import {
  copyPackagedFederation,
  createPackagedFederation,
  type FederatedSite,
  type PackagedFederation,
} from '../support/site/packaged-federation.ts'
import { createSpeaker, findSession } from '../support/site/packaged-site-pair.ts'
import { configureSite, type SoakEngines, startSoakEngines } from './soak-engines.ts'
import { advanceSession, readChannels, type SoakSession, type SoakSite, type SoakSites } from './soak-sessions.ts'

const session_count = 24
/** Of each engine and each site: one death less than those that would make a message POISON. */
const max_kills = 2
/** A tenth of a second each: a search engine takes half a minute to come back. */
const max_turns = 1_200
const timeout_ms = 180_000
/** While sessions are still opened: without a death they take about thirty turns. */
const max_turns_before_kill = 25

let runningEngines: Promise<SoakEngines> | undefined
let pattern: Promise<PackagedFederation> | undefined

export const usual_seeds = 200

/** After the last seed. */
export async function end(): Promise<void> {
  for (const engine of Object.values((await runningEngines) ?? {})) await engine.end()
  await (await pattern)?.end()
}

/** The events, counted. Throws when anything was lost, done twice or left unexplained; the folders stay then. */
export async function soak(seed: number): Promise<Record<string, number>> {
  runningEngines ??= startSoakEngines()
  pattern ??= createPackagedFederation('alpha', 'bravo')
  const world = await copyPackagedFederation(await pattern)
  try {
    const counts = await (
      await EnginesSoak.over(world, await runningEngines, seededRandom(seed), `soak${seed}`)
    ).toItsEnd()
    await world.end()
    return counts
  } catch (error) {
    await world.stopAll()
    throw new Error(`seed ${seed} failed; its folders are ${world.dir}`, { cause: error })
  }
}

class EnginesSoak {
  readonly #chance: SeededRandom
  readonly #ends: SoakSites
  readonly #questions: SoakSession[]
  readonly #engines: SoakEngines
  /** Of somebody whom the identity provider knows, shown to alpha. */
  readonly #token: string
  readonly #daemons = new Map<FederatedSite, RunningDaemon>()
  readonly #counts: Record<string, number> = {}

  private constructor(ends: SoakSites, engines: SoakEngines, token: string, by: SeededRandom) {
    this.#chance = by
    this.#ends = ends
    this.#engines = engines
    this.#token = token
    const [home, away] = ends
    this.#questions = Array.from({ length: session_count }, (_, at) => ({
      ...(at % 2 === 0 ? { opener: home, invitee: away } : { opener: away, invitee: home }),
      key: { 'idempotency-key': `question-${at}-of-this-soak` },
      ...{ id: '', opinionCount: 0, isOver: false },
    }))
  }

  static async over(
    { sites }: PackagedFederation,
    engines: SoakEngines,
    by: SeededRandom,
    name: string,
  ): Promise<EnginesSoak> {
    const { alpha, bravo } = sites
    if (!alpha || !bravo) throw new Error('two sites were made')
    for (const site of [alpha, bravo]) configureSite(site, engines, name)
    const ends: SoakSites = [
      { site: alpha, person: await createSpeaker(alpha), road: { from: bravo, to: alpha }, peer: 'bravo' },
      { site: bravo, person: await createSpeaker(bravo), road: { from: alpha, to: bravo }, peer: 'alpha' },
    ]
    const ofConsole = { client_id: 'console', client_secret: keycloakSecrets.console, grant_type: 'password' }
    const { access_token } = await engines.keycloak.token({
      ...ofConsole,
      username: 'ada',
      password: keycloakSecrets.ada,
    })
    return new EnginesSoak(ends, engines, access_token, by)
  }

  async toItsEnd(): Promise<Record<string, number>> {
    for (const { site } of this.#ends) this.#daemons.set(site, await site.start())
    await this.#trouble()
    await this.#settle()
    for (const end of this.#ends) await this.#judge(end)
    return this.#counts
  }

  /** Questions go on while everything dies, each at a turn of its own. */
  async #trouble(): Promise<void> {
    const deaths = this.#deaths()
    const dying = new Map<string, Promise<void>>()
    for (let turn = 0; turn < max_turns && !this.#hasAllOpinions(); turn += 1) {
      for (const { name, kill } of deaths.filter(({ on }) => on === turn)) {
        const death = (dying.get(name) ?? Promise.resolve()).then(kill)
        // Reported where all are awaited; when a session fails before that, its failure is the one to report.
        death.catch(() => undefined)
        dying.set(name, death)
      }
      const some = this.#questions.filter(() => this.#chance.below(3) === 0)
      await Promise.all([pause(100), this.#look(), ...some.map((question) => this.#step(question))])
    }
    await Promise.all(dying.values())
  }

  #deaths(): { name: string; on: number; kill: () => Promise<void> }[] {
    const of = (name: string, kill: () => Promise<void>) =>
      Array.from({ length: this.#chance.below(max_kills + 1) }, () => ({
        name,
        kill,
        on: this.#chance.below(max_turns_before_kill),
      }))
    const servers: [string, ServerProcess][] = Object.entries(this.#engines)
    return [
      ...servers.flatMap(([name, server]) => of(name, () => this.#kill(name, server))),
      ...this.#ends.flatMap(({ site }) => of(site.name, () => this.#killSite(site))),
    ]
  }

  async #kill(name: string, server: ServerProcess): Promise<void> {
    await server.kill()
    this.#count(`${name} killed`)
    await pause(this.#chance.below(500))
    await server.start()
  }

  async #killSite(site: FederatedSite): Promise<void> {
    await pause(this.#chance.below(40))
    await this.#daemons.get(site)?.kill()
    this.#count('sites killed')
    this.#daemons.set(site, await site.start())
  }

  /** A known caller is never called a stranger, during the death of any part. */
  async #look(): Promise<boolean> {
    const [{ site }] = this.#ends
    const status = await site
      .withToken(this.#token)
      .call(listSessions, {})
      .then((answer) => answer.status, ignoreConnectionFailure)
    assert.ok(status === undefined || status === 200 || status === 503, `someone of the provider got ${status}`)
    if (status === 200) this.#count('looks')
    else this.#count('looks refused')
    return status === 200
  }

  #step(question: SoakSession): Promise<void> {
    return advanceSession(question).catch((error: unknown) => {
      ignoreConnectionFailure(error)
      this.#count('steps refused')
    })
  }

  #hasAllOpinions(): boolean {
    return this.#questions.every(({ opinionCount }) => opinionCount === 2)
  }

  /** Everything runs again: all that was promised comes true by itself. */
  async #settle(): Promise<void> {
    const deadline = performance.now() + timeout_ms
    for (;;) {
      await Promise.all(this.#questions.map((question) => this.#step(question)))
      const open = await this.#whatIsOpen().catch((error: unknown) => [String(error)])
      if (open.length === 0 && (await this.#look())) return
      assert.ok(performance.now() < deadline, `it never settled: ${open.join('; ')}`)
      await pause(100)
    }
  }

  async #whatIsOpen(): Promise<string[]> {
    for (const question of this.#questions.filter(({ isOver }) => !isOver)) {
      const { opener, invitee, id, opinionCount } = question
      if (opinionCount < 2) return [`${id || 'a question'} is not answered`]
      const states = await Promise.all([findSession(opener.person, id), findSession(invitee.person, id)])
      question.isOver = states.every((each) => each?.state === 'RATIFIED' && each.undelivered === 0)
      if (!question.isOver) return [`${id} of ${opener.site.name} is ${states.map((each) => each?.state)}`]
    }
    const open: string[] = []
    for (const end of this.#ends) {
      const { out, into } = await readChannels(end, this.#otherOf(end))
      end.settledNumber = out.highest_seq
      const isThrough = into.gaps === 0 && into.backlog === 0 && into.highest_seq === out.highest_seq
      if (!isThrough || out.backlog > 0) open.push(`${end.site.name} has ${JSON.stringify(into)}`)
    }
    return open
  }

  #otherOf({ site }: SoakSite): SoakSite {
    const [one, other] = this.#ends
    return one.site === site ? other : one
  }

  async #judge(end: SoakSite): Promise<void> {
    const { site, person } = end
    const { out, into } = await readChannels(end, this.#otherOf(end))
    assert.deepEqual([into.state, out.state, into.quarantined], ['open', 'open', 0], 'the channels are sound')
    assert.ok(into.received >= (end.settledNumber ?? 0), 'each number came in')
    for (const { opener, invitee, id } of this.#questions) {
      const speakers = (await person.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id)
      const expected = end === opener ? ['alice', invitee.site.name] : [invitee.site.name]
      assert.deepEqual(speakers.toSorted(), expected.toSorted(), `${id} at ${site.name} has one word of each`)
    }
    assert.equal((await site.runJson(['audit', 'verify'])).whole, true, `the record of ${site.name} is whole`)
  }

  #count(what: string): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1
  }
}

/** No connection, one that broke off, or a part of the house that is not there now. */
function ignoreConnectionFailure(error: unknown): undefined {
  const isMissing = error instanceof TypeError || (error instanceof Error && /was refused \(503\)/.test(error.message))
  if (!isMissing) throw error
}

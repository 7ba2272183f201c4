// One scripted federation over every way that messages can travel, with deaths in the middle: the evidence is the same to the byte.
import { setInterval } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test as plain } from 'vitest'
import { canonical } from '../../../daemon/kernel/canonical.ts'
import { get as getEvidence } from '../../../daemon/roles/consensus/evidence/get.ts'
import type { EvidenceBlock } from '../../../daemon/roles/consensus/evidence/model.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { personOf, say, seen, shared } from '../../sites/question.ts'
import {
  copyOf,
  type Daemon,
  type PackagedSite,
  type PackagedSites,
  packagedSites,
} from '../../support/packaged-sites.ts'
import type { Person } from '../../support/person.ts'
import { whenPresent } from '../../support/requires.ts'
import { until } from '../../support/site-world.ts'
import { type Arm, arms, type Network } from './arms.ts'

/** Three opinions at home and the votes of two guests: 1,000 contributions. */
const sessions = 200
const n = 5
const lanes = 4
/** By number of the session: when it is opened, this happens. */
const deaths: ReadonlyMap<number, number> = new Map([
  [40, 0],
  [90, 1],
  [140, 2],
])
const trouble_at = 110

const names = ['alpha', 'bravo', 'charlie']
/** Each arm runs with a copy: the keys of all are the same, and with them what is signed for. */
let pattern: Promise<PackagedSites>
const worlds: PackagedSites[] = []
beforeAll(async () => {
  pattern = packagedSites(...names, 'hub')
  worlds.push(await pattern)
})
afterAll(async () => {
  for (const world of worlds) await world.end()
})

/** By the name of the arm: what remains of the evidence once names, times and signatures are taken out. */
const told = new Map<string, readonly string[]>()

for (const arm of arms) {
  const test = arm.wanted ? whenPresent(arm.wanted) : plain
  describe(arm.name, () => {
    test('1,000 contributions of three sites are ratified, whoever died meanwhile', async () => {
      const federation = await Federation.over(arm)
      try {
        told.set(arm.name, await federation.run())
      } finally {
        await federation.end()
      }
      expect(told.get(arm.name)).toHaveLength(sessions)
    }, 600_000)
  })
}

plain('the evidence is the same, byte for byte, whichever way the messages went', () => {
  expect([...told.keys()]).toEqual(arms.filter(({ wanted }) => wanted?.isPresent ?? true).map(({ name }) => name))
  const [first, ...others] = told.values()
  for (const each of others) expect(each).toEqual(first)
})

class Federation {
  readonly #sites: readonly PackagedSite[]
  readonly #people: readonly Person[]
  readonly #network: Network
  readonly #daemons: Daemon[]

  private constructor(sites: readonly PackagedSite[], people: readonly Person[], network: Network, daemons: Daemon[]) {
    this.#sites = sites
    this.#people = people
    this.#network = network
    this.#daemons = daemons
  }

  static async over(arm: Arm): Promise<Federation> {
    const world = await copyOf(await pattern)
    worlds.push(world)
    const sites = names.flatMap((name) => world.sites[name] ?? [])
    const network = await arm.prepare(sites, world)
    const people = await Promise.all(sites.map(personOf))
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
      this.#network.turn()
    }
  }

  /** From its first word to its evidence. */
  async #session(at: number): Promise<string> {
    const [home, ...guests] = this.#people as [Person, Person, Person]
    await this.#happen(at)
    const key = { 'idempotency-key': `session-${at}-of-the-federation` }
    const subject = { kind: 'entity_match', left: `vessel/${at}`, right: `hull/${at}` }
    const asked = { lens_id: 'vessel-identity', lens_version: '1', subject, policy: policyOf(at) }
    const { id } = await stubbornly(() =>
      home.ok(create, { ...asked, classification: shared, invite: ['bravo', 'charlie'] }, key),
    )
    for (const [index, name] of ['alice', 'bob', 'carol'].entries()) {
      await stubbornly(() => say(home, id, name, scoreOf(at, index)))
    }
    await Promise.all(
      guests.map(async (guest, index) => {
        await patiently(() => seen(guest, id).catch(whenNobodyAnswered))
        await stubbornly(() => say(guest, id, 'bob', scoreOf(at, 3 + index)))
      }),
    )
    const block_id = await patiently(async () => {
      const session = await seen(home, id).catch(whenNobodyAnswered)
      return session?.state === 'RATIFIED' && session.evidence_block_id
    })
    return comparable(await stubbornly(() => home.ok(getEvidence, { block_id })))
  }

  async #happen(at: number): Promise<void> {
    if (at === trouble_at) await this.#network.trouble()
    const dying = deaths.get(at)
    if (dying === undefined) return
    await this.#daemons[dying]?.kill()
    this.#daemons[dying] = await (this.#sites[dying] as PackagedSite).start()
  }
}

/** Every contributor must have spoken, so that the order in which they are heard cannot matter. */
function policyOf(at: number) {
  const combination_method = at % 2 === 0 ? ('weighted_average' as const) : ('dempster_shafer' as const)
  return { m: n, n, combination_method }
}

/** Numbers whose sum depends on the order in which they are added. */
function scoreOf(at: number, index: number): number {
  return 0.9 + ((at * 7 + index * 3) % 10) / 101
}

/** What the evidence says, without what must differ: identifiers, times, and what is derived from them. */
function comparable({ content }: EvidenceBlock): string {
  const { session_id: _id, decided_at: _at, parent_block_ids: parents, record, contributions, ...rest } = content
  return canonical({
    ...rest,
    contributions: contributions.map(({ msg_id, ...each }) => ({ ...each, by_message: msg_id !== undefined })),
    parents: parents.length,
    recorded: record.contributions,
  })
}

const stubbornly = <T>(act: () => Promise<T>): Promise<T> => patiently(() => act().catch(whenNobodyAnswered))

/** As long as it takes: a machine that runs a broker and three sites besides is slow. */
async function patiently<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const found = await until(look).catch((error: unknown) => {
      if (tries === 12) throw error
    })
    if (found) return found as T
  }
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
function whenNobodyAnswered(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}

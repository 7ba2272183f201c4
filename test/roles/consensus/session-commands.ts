// What can happen to a session, each thing done to the real one over HTTP and to the model, then both compared.
import fc from 'fast-check'
import { expect } from 'vitest'
import type { QuorumPolicy } from '../../../daemon/kernel/quorum-policy.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { Session } from '../../../daemon/roles/consensus/session/model.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import type { Person } from '../../support/person.ts'
import { type SiteWorld, until } from '../../support/site-world.ts'
import { names, opinion } from './consensus-world.ts'
import type { Said, SessionModel } from './session-model.ts'

export type Real = { readonly world: SiteWorld; readonly person: Person; readonly id: string; restarts: number }
type Command = fc.AsyncCommand<SessionModel, Real>

/** As many as the widest policy here has, and two more. */
export const everybody = names(6)

/** Holds the session against the model; also that its history has no seam, and the event numbers of its steps. */
export function agree(session: Session, model: SessionModel): void {
  const { state, decision, reason, contributors, contributions, history } = session
  expect({ state, decision, contributors, contributions }).toEqual({
    state: model.state,
    decision: model.decision,
    contributors: model.standing.size,
    contributions: model.contributions,
  })
  if (state === 'IN_CONFLICT') expect(reason).toBe(model.reason)
  expect(history.map(({ to }) => to)).toEqual(model.path)
  expect(history.map(({ seq }) => seq)).toEqual(model.numbers)
  expect(history.map(({ from }) => from)).toEqual([null, ...model.path.slice(0, -1)])
}

type Deed = {
  readonly told: string
  readonly check?: (model: Readonly<SessionModel>) => boolean
  readonly model: (model: SessionModel) => string | undefined
  readonly real: (real: Real, model: SessionModel) => Promise<string | number>
}

function command({ told, check = () => true, model: foretell, real: act }: Deed): Command {
  return {
    toString: () => told,
    check: (model) => check(model),
    async run(model, real) {
      const foretold = foretell(model)
      expect(await act(real, model)).toBe(foretold ?? 200)
      agree(await real.person.ok(get, { id: real.id }), model)
    },
  }
}

function saying(said: Said): Command {
  return command({
    told: `${said.who} says ${said.score} (${said.accuracy} x ${said.credibility})`,
    model: (model) => model.contribute(said),
    real: ({ person, id }) => person.refusal(contribute, { id, ...bodyOf(said) }),
  })
}

function repeating(at: number): Command {
  const chosen = (model: Readonly<SessionModel>) => [...model.standing.values()][at % model.standing.size] as Said
  return command({
    told: `what stands is said again (${at})`,
    check: (model) => model.standing.size > 0,
    model: (model) => model.contribute(chosen(model)),
    real: ({ person, id }, model) => person.refusal(contribute, { id, ...bodyOf(chosen(model)) }),
  })
}

function bodyOf({ who, score, accuracy, credibility }: Said) {
  return opinion(who, score, [accuracy, credibility])
}

const resolving = command({
  told: 'a resolve attempt',
  model: (model) => model.resolve(),
  real: ({ person, id }) => person.refusal(resolve, { id }),
})

const cancelling = command({
  told: 'cancelled',
  model: (model) => model.cancel(),
  real: ({ person, id }) => person.refusal(cancel, { id }),
})

function attesting(decision: 'match' | 'non_match'): Command {
  return command({
    told: `attested as ${decision}`,
    model: (model) => model.attest(decision),
    real: ({ person, id }) => person.refusal(attest, { id, decision, rationale: 'seen with my own eyes' }),
  })
}

const deadlinePassing = command({
  told: 'the deadline passes',
  check: (model) => model.policy.deadline !== undefined,
  model: (model) => {
    model.deadlinePasses()
    return undefined
  },
  async real({ world, person, id }, model) {
    world.clock.advance(Math.max(0, Date.parse(model.policy.deadline ?? '') - world.clock.now()))
    world.wake('consensus', 'deadlines')
    await until(async () => (await person.ok(get, { id })).state === model.state)
    return 200
  },
})

/** Starting again takes longer than everything else together: once a run is enough. */
const restarting: Command = {
  toString: () => 'the daemon stops and starts again',
  check: () => true,
  async run(model, real) {
    if (real.restarts === 0) await real.world.restart()
    real.restarts += 1
    agree(await real.person.ok(get, { id: real.id }), model)
  },
}

const share = fc.constantFrom(0, 0.1, 0.2, 0.5, 0.8, 0.9, 1)

export const commands = fc.commands(
  [
    ...Array.from({ length: 3 }, () =>
      fc
        .record({
          who: fc.constantFrom(...everybody),
          score: share,
          accuracy: fc.constantFrom(1, 1, 0.9, 0.4, 0),
          credibility: fc.constantFrom(1, 0.7),
        })
        .map(saying),
    ),
    fc.nat(5).map(repeating),
    fc.constant(resolving),
    fc.constantFrom<'match' | 'non_match'>('match', 'non_match').map(attesting),
    fc.constant(deadlinePassing),
    fc.constantFrom(resolving, cancelling),
    fc.constantFrom(resolving, restarting),
  ],
  { maxCommands: 24, size: '+1' },
)

export type PolicyGiven = Omit<QuorumPolicy, 'deadline'> & { readonly hasDeadline: boolean }

export const policies: fc.Arbitrary<PolicyGiven> = fc
  .record({
    m: fc.integer({ min: 1, max: 3 }),
    more: fc.integer({ min: 0, max: 2 }),
    combination_method: fc.constantFrom('weighted_average' as const, 'dempster_shafer' as const),
    ratify_threshold: fc.constantFrom(0.6, 0.8, 1),
    conflict_threshold: fc.constantFrom(0.3, 0.5, 1),
    isNamed: fc.boolean(),
    hasDeadline: fc.boolean(),
  })
  .map(({ m, more, isNamed, ...rest }) => {
    const n = m + more
    return { m, n, ...rest, ...(isNamed ? { contributors: everybody.slice(0, n) } : {}) }
  })

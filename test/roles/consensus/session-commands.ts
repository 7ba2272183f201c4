// Random commands to a session: each is run over HTTP and on the model, and the results are compared.
import fc from 'fast-check'
import { expect } from 'vitest'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { ConsensusSession } from '../../../daemon/roles/consensus/session/model.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import type { QuorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { buildContributorNames, buildOpinionInput } from './consensus-site.ts'
import type { ModelOpinion, SessionModel } from './session-model.ts'

export type SessionSystem = {
  readonly world: TestSite
  readonly person: CheckedClient
  readonly id: string
  restarts: number
}
type SessionCommand = fc.AsyncCommand<SessionModel, SessionSystem>

/** As many as the widest policy here has, and two more. */
export const everybody = buildContributorNames(6)

/** Holds the session against the model; also that its history has no seam, and the event numbers of its steps. */
export function expectSessionAgrees(session: ConsensusSession, model: SessionModel): void {
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

type SessionStep = {
  readonly description: string
  readonly check?: (model: Readonly<SessionModel>) => boolean
  readonly model: (model: SessionModel) => string | undefined
  readonly real: (real: SessionSystem, model: SessionModel) => Promise<string | number>
}

function createCommand({ description, check = () => true, model: foretell, real: act }: SessionStep): SessionCommand {
  return {
    toString: () => description,
    check: (model) => check(model),
    async run(model, real) {
      const foretold = foretell(model)
      expect(await act(real, model)).toBe(foretold ?? 200)
      expectSessionAgrees(await real.person.ok(get, { id: real.id }), model)
    },
  }
}

function contributeCommand(opinion: ModelOpinion): SessionCommand {
  return createCommand({
    description: `${opinion.who} says ${opinion.score} (${opinion.accuracy} x ${opinion.credibility})`,
    model: (model) => model.contribute(opinion),
    real: ({ person, id }) => person.refusal(contribute, { id, ...buildBody(opinion) }),
  })
}

function repeatCommand(at: number): SessionCommand {
  const chosen = (model: Readonly<SessionModel>) =>
    [...model.standing.values()][at % model.standing.size] as ModelOpinion
  return createCommand({
    description: `a standing contribution is repeated (${at})`,
    check: (model) => model.standing.size > 0,
    model: (model) => model.contribute(chosen(model)),
    real: ({ person, id }, model) => person.refusal(contribute, { id, ...buildBody(chosen(model)) }),
  })
}

function buildBody({ who, score, accuracy, credibility }: ModelOpinion) {
  return buildOpinionInput(who, score, [accuracy, credibility])
}

const resolveCommand = createCommand({
  description: 'a resolve attempt',
  model: (model) => model.resolve(),
  real: ({ person, id }) => person.refusal(resolve, { id }),
})

const cancelCommand = createCommand({
  description: 'cancelled',
  model: (model) => model.cancel(),
  real: ({ person, id }) => person.refusal(cancel, { id }),
})

function attestCommand(decision: 'match' | 'non_match'): SessionCommand {
  return createCommand({
    description: `attested as ${decision}`,
    model: (model) => model.attest(decision),
    real: ({ person, id }) => person.refusal(attest, { id, decision, rationale: 'seen with my own eyes' }),
  })
}

const passDeadlineCommand = createCommand({
  description: 'the deadline passes',
  check: (model) => model.policy.deadline !== undefined,
  model: (model) => {
    model.deadlinePasses()
    return undefined
  },
  async real({ world, person, id }, model) {
    world.clock.advance(Math.max(0, Date.parse(model.policy.deadline ?? '') - world.clock.now()))
    world.wakeWorker('consensus', 'deadlines')
    await waitUntil(async () => (await person.ok(get, { id })).state === model.state)
    return 200
  },
})

/** Starting again takes longer than everything else together: once a run is enough. */
const restartCommand: SessionCommand = {
  toString: () => 'the daemon stops and starts again',
  check: () => true,
  async run(model, real) {
    if (real.restarts === 0) await real.world.restart()
    real.restarts += 1
    expectSessionAgrees(await real.person.ok(get, { id: real.id }), model)
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
        .map(contributeCommand),
    ),
    fc.nat(5).map(repeatCommand),
    fc.constant(resolveCommand),
    fc.constantFrom<'match' | 'non_match'>('match', 'non_match').map(attestCommand),
    fc.constant(passDeadlineCommand),
    fc.constantFrom(resolveCommand, cancelCommand),
    fc.constantFrom(resolveCommand, restartCommand),
  ],
  { maxCommands: 24, size: '+1' },
)

export type GeneratedPolicy = Omit<QuorumPolicy, 'deadline'> & { readonly hasDeadline: boolean }

export const policies: fc.Arbitrary<GeneratedPolicy> = fc
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

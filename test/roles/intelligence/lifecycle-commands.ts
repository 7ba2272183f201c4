// Events of signals and insights, each done to the real ones over HTTP and to the model, then all compared.
import fc from 'fast-check'
import { expect } from 'vitest'
import { create as bulk } from '../../../daemon/roles/intelligence/bulk/create.ts'
import { get as bulkOf } from '../../../daemon/roles/intelligence/bulk/get.ts'
import { attest } from '../../../daemon/roles/intelligence/edition/attest.ts'
import { draft } from '../../../daemon/roles/intelligence/edition/draft.ts'
import { close } from '../../../daemon/roles/intelligence/insight/close.ts'
import { open } from '../../../daemon/roles/intelligence/insight/open.ts'
import { start } from '../../../daemon/roles/intelligence/insight/start.ts'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { archive } from '../../../daemon/roles/intelligence/signal/archive.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { linkInsight } from '../../../daemon/roles/intelligence/signal/link-insight.ts'
import { merge } from '../../../daemon/roles/intelligence/signal/merge.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import { unmerge } from '../../../daemon/roles/intelligence/signal/unmerge.ts'
import { create as hush } from '../../../daemon/roles/intelligence/silence/create.ts'
import { end } from '../../../daemon/roles/intelligence/silence/end.ts'
import { type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { raiseSignal } from './intelligence-site.ts'
import { expectLifecycleAgrees, type LifecycleSystem } from './lifecycle-agreement.ts'
import type { LifecycleModel, ModelSignalStatus } from './lifecycle-model.ts'

type LifecycleCommand = fc.AsyncCommand<LifecycleModel, LifecycleSystem>

type LifecycleStep = {
  readonly description: string
  readonly check?: (model: Readonly<LifecycleModel>) => boolean
  readonly model: (model: LifecycleModel) => string | undefined
  readonly real: (real: LifecycleSystem) => Promise<string | number>
}

function createCommand({
  description,
  check = () => true,
  model: foretell,
  real: act,
}: LifecycleStep): LifecycleCommand {
  return {
    toString: () => description,
    check: (model) => check(model),
    async run(model, real) {
      const foretold = foretell(model)
      expect(await act(real)).toBe(foretold ?? 200)
      await expectLifecycleAgrees(real, model)
    },
  }
}

const rationale = 'as the test has it'
/** Of a signal; all that pass are less than a token's. */
const lifetime_ms = 600_000
const hasInsight = (to: number) => (model: Readonly<LifecycleModel>) => model.insights.length > to

const moveCommand = (at: number, to: Exclude<ModelSignalStatus, 'new'>) =>
  createCommand({
    description: `signal ${at} is ${to}`,
    model: (model) => model.move(at, to),
    real: ({ person, signals }) =>
      person.refusal(setDisposition, { uid: signals[at] ?? '', disposition: to, rationale }),
  })

const acknowledgeCommand = (at: number) =>
  createCommand({
    description: `signal ${at} is seen`,
    model: (model) => model.move(at, 'acknowledged'),
    real: ({ person, signals }) => person.refusal(acknowledge, { uid: signals[at] ?? '' }),
  })

const archiveCommand = (at: number) =>
  createCommand({
    description: `signal ${at} is put away`,
    model: (model) => model.archive(at),
    real: ({ person, signals }) => person.refusal(archive, { uid: signals[at] ?? '' }),
  })

const openCommand = (at: number) =>
  createCommand({
    description: `an insight about signal ${at}`,
    check: (model) => model.insights.length < 3,
    model: (model) => model.open(at),
    async real({ person, signals, insights, editions }) {
      const { value, problem } = await person.call(open, { signal_id: signals[at] ?? '', title: 'Why is she there?' })
      if (!value) return problem?.code ?? 0
      insights.push(value.uid)
      editions.push([])
      return 200
    },
  })

const mergeCommand = (at: number, into: number) =>
  createCommand({
    description: `signal ${at} is merged into ${into}`,
    model: (model) => model.merge(at, into),
    real: ({ person, signals }) =>
      person.refusal(merge, { uid: signals[into] ?? '', signal_ids: [signals[at] ?? ''], rationale }),
  })

const unmergeCommand = (at: number) =>
  createCommand({
    description: `signal ${at} is taken out`,
    model: (model) => model.unmerge(at),
    real: ({ person, signals }) => person.refusal(unmerge, { uid: signals[at] ?? '', rationale }),
  })

/** The answers for each signal, in order. */
const moveManyCommand = (all: readonly number[], to: Exclude<ModelSignalStatus, 'new'>) =>
  createCommand({
    description: `signals ${all} are ${to} at once`,
    model: (model) => all.map((at) => (model.move(at, to) ? 'refused' : 'done')).join(),
    async real({ person, signals }) {
      const signal_ids = all.map((at) => signals[at] ?? '')
      const { uid } = await person.ok(bulk, { signal_ids, disposition: to, rationale })
      const { items } = await waitUntil(async () => {
        const seen = await person.ok(bulkOf, { uid })
        return seen.state === 'finished' && seen
      })
      return items?.map(({ outcome }) => outcome).join() ?? ''
    },
  })

const endSilenceCommand = createCommand({
  description: 'the silence is ended',
  model: (model) => model.endSilence(),
  async real({ world, silence }) {
    const operator = await world.as({ roles: ['operator'] })
    return operator.refusal(end, { uid: silence })
  },
})

const linkCommand = (at: number, to: number) =>
  createCommand({
    description: `signal ${at} to insight ${to}`,
    check: hasInsight(to),
    model: (model) => model.link(at, to),
    real: ({ person, signals, insights }) =>
      person.refusal(linkInsight, { uid: signals[at] ?? '', insight_id: insights[to] ?? '' }),
  })

const startCommand = (to: number) =>
  createCommand({
    description: `insight ${to} is investigated`,
    check: hasInsight(to),
    model: (model) => model.start(to),
    real: ({ person, insights }) => person.refusal(start, { uid: insights[to] ?? '' }),
  })

const draftCommand = (to: number, closes: boolean) =>
  createCommand({
    description: `insight ${to} gets an edition${closes ? ' that closes' : ''}`,
    check: hasInsight(to),
    model: (model) => model.draft(to, closes),
    async real({ person, insights, editions }) {
      const { value, problem } = await person.call(draft, { uid: insights[to] ?? '', title: 't', summary: '', closes })
      const made = value?.editions.at(-1)?.edition_id
      if (made) editions[to]?.push(made)
      return problem?.code ?? 200
    },
  })

const attestCommand = (to: number, number: number) =>
  createCommand({
    description: `edition ${number} of insight ${to} is attested`,
    check: hasInsight(to),
    model: (model) => model.attest(to, number),
    real: ({ person, insights, editions }) =>
      person.refusal(attest, { uid: insights[to] ?? '', edition_id: editions[to]?.[number] ?? 'edn_none' }),
  })

const closeCommand = (to: number) =>
  createCommand({
    description: `insight ${to} is closed`,
    check: hasInsight(to),
    model: (model) => model.close(to),
    real: ({ person, insights }) => person.refusal(close, { uid: insights[to] ?? '', rationale }),
  })

const expireCommand = createCommand({
  description: 'their time passes',
  model: (model) => {
    model.expire()
    return undefined
  },
  async real({ world, person, signals }) {
    world.clock.advance(lifetime_ms)
    world.wakeWorker('intelligence', 'expiry')
    await expect
      .poll(
        async () => {
          const all = await Promise.all(signals.map((uid) => person.ok(get, { uid })))
          return all.every(({ status, metadata }) => metadata.expired_at ?? ['resolved', 'dismissed'].includes(status))
        },
        { timeout: 60_000 },
      )
      .toBe(true)
    return 200
  },
})

const signal = fc.nat(2)
const status = fc.constantFrom('acknowledged', 'investigating', 'resolved', 'dismissed') as fc.Arbitrary<
  Exclude<ModelSignalStatus, 'new'>
>
const insight = fc.nat(2)

export const commands = fc.commands(
  [
    signal.map(openCommand),
    signal.map(acknowledgeCommand),
    fc.tuple(signal, status).map(([at, to]) => moveCommand(at, to)),
    fc.tuple(fc.subarray([0, 1, 2], { minLength: 1 }), status).map(([all, to]) => moveManyCommand(all, to)),
    fc.tuple(signal, signal).map(([at, into]) => mergeCommand(at, into)),
    signal.map(unmergeCommand),
    signal.map(archiveCommand),
    fc.tuple(signal, insight).map(([at, to]) => linkCommand(at, to)),
    insight.map(startCommand),
    fc.tuple(insight, fc.boolean()).map(([to, closes]) => draftCommand(to, closes)),
    fc.tuple(insight, fc.nat(1)).map(([to, number]) => attestCommand(to, number)),
    fc.oneof(
      { weight: 3, arbitrary: insight.map(closeCommand) },
      { weight: 1, arbitrary: fc.constantFrom(expireCommand, endSilenceCommand) },
    ),
  ],
  { maxCommands: 24, size: '+1' },
)

/** A tenant has so many of them and no more. */
export async function endSilence({ world, silence }: LifecycleSystem, model: LifecycleModel): Promise<void> {
  if (model.hasSilence) await (await world.as({ roles: ['operator'] })).ok(end, { uid: silence })
}

/** Three signals, the last of them under a silence, and nothing else yet. */
export async function createLifecycleSystem(world: TestSite, model: LifecycleModel): Promise<LifecycleSystem> {
  const person = await world.as()
  const expires_at = new Date(world.clock.now() + lifetime_ms).toISOString()
  const operator = await world.as({ roles: ['operator'] })
  const ends_at = new Date(world.clock.now() + 86_400_000).toISOString()
  const matchers = { signal_type: [`hushed-${world.clock.now()}-*`] }
  const silence = (await operator.ok(hush, { matchers, reason: 'a drill', ends_at })).uid
  const signals: string[] = []
  for (const hushed of [false, false, true]) {
    const signal_type = `${hushed ? 'hushed' : 'loud'}-${world.clock.now()}-1`
    signals.push(await raiseSignal(person, { expires_at, signal_type }))
    model.raise(hushed)
  }
  return { world, person, signals, silence, insights: [], editions: [] }
}

// What can happen to signals and insights, each thing done to the real ones over HTTP and to the model, then all compared.
import fc from 'fast-check'
import { expect } from 'vitest'
import { attest } from '../../../daemon/roles/intelligence/edition/attest.ts'
import { draft } from '../../../daemon/roles/intelligence/edition/draft.ts'
import { close } from '../../../daemon/roles/intelligence/insight/close.ts'
import { get as insightOf } from '../../../daemon/roles/intelligence/insight/get.ts'
import { start } from '../../../daemon/roles/intelligence/insight/start.ts'
import { list as ledgerOf } from '../../../daemon/roles/intelligence/ledger/list.ts'
import type { LedgerEvent } from '../../../daemon/roles/intelligence/ledger/model.ts'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { archive } from '../../../daemon/roles/intelligence/signal/archive.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { linkInsight } from '../../../daemon/roles/intelligence/signal/link-insight.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import type { Person } from '../../support/person.ts'
import type { SiteWorld } from '../../support/site-world.ts'
import { opened, raise, settled } from './intelligence-world.ts'
import type { LifecycleModel, Status } from './lifecycle-model.ts'

/** Ids by the model's numbers. */
export type Real = {
  readonly world: SiteWorld
  readonly person: Person
  readonly signals: string[]
  readonly insights: string[]
  readonly editions: string[][]
}
type Command = fc.AsyncCommand<LifecycleModel, Real>

/** Holds all that is stored against the model. */
export async function agree(real: Real, model: LifecycleModel): Promise<void> {
  await settled(real.world)
  for (const [at, uid] of real.signals.entries()) {
    const signal = await real.person.ok(get, { uid })
    const { status, history, archived, expired, links, resolved_by } = model.signal(at)
    const { status_history, ...metadata } = signal.metadata
    expect(status_history.map(({ from, to }) => `${from} ${to}`)).toEqual(history)
    expect(signal.status).toBe(status)
    expect(signal.linked_insight_ids).toEqual(links.map((each) => real.insights[each]))
    expect(metadata.archived ?? false).toBe(archived)
    expect(metadata.expired_at !== undefined).toBe(expired)
    expect(metadata.resolved_by_insight).toBe(resolved_by && real.insights[resolved_by.insight])
    expect(metadata.resolved_by_edition).toBe(resolved_by && real.editions[resolved_by.insight]?.[resolved_by.edition])
  }
  for (const [at, uid] of real.insights.entries()) {
    const { state, links, ledger } = model.insight(at)
    const insight = await real.person.ok(insightOf, { uid })
    expect(insight.state).toBe(state)
    expect(insight.linked_signal_ids).toEqual(links.map((each) => real.signals[each]))
    const { items } = await real.person.ok(ledgerOf, { uid, limit: 500 })
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, number) => number + 1))
    const told = items.map((event) => wordOf(real, at, event))
    expect(told.toSorted()).toEqual(ledger.toSorted())
    for (const one of links) expect(about(one, told)).toEqual(about(one, ledger))
    if (state === 'closed') expect(told.at(-1)).toBe('insight_closed')
  }
}

const about = (at: number, words: readonly string[]) =>
  words.filter((word) => word.startsWith(`signal_disposition_set ${at} `))

function wordOf({ signals, editions }: Real, insight: number, event: LedgerEvent): string {
  const { type } = event
  if (type === 'insight_opened') return `${type} ${signals.indexOf(event.signal_id)}`
  if (type === 'signal_linked') return `${type} ${signals.indexOf(event.signal_id)} ${event.status}`
  if (type === 'edition_attested') return `${type} ${editions[insight]?.indexOf(event.edition_id)}`
  if (type === 'signal_disposition_set') return `${type} ${signals.indexOf(event.signal_id)} ${event.from} ${event.to}`
  return type
}

type Deed = {
  readonly told: string
  readonly check?: (model: Readonly<LifecycleModel>) => boolean
  readonly model: (model: LifecycleModel) => string | undefined
  readonly real: (real: Real) => Promise<string | number>
}

function command({ told, check = () => true, model: foretell, real: act }: Deed): Command {
  return {
    toString: () => told,
    check: (model) => check(model),
    async run(model, real) {
      const foretold = foretell(model)
      expect(await act(real)).toBe(foretold ?? 200)
      await agree(real, model)
    },
  }
}

const rationale = 'as the test has it'
/** Of a signal; all that pass are less than a token's. */
const lifetime_ms = 600_000
const hasInsight = (to: number) => (model: Readonly<LifecycleModel>) => model.insights.length > to

const moving = (at: number, to: Exclude<Status, 'new'>) =>
  command({
    told: `signal ${at} is ${to}`,
    model: (model) => model.move(at, to),
    real: ({ person, signals }) =>
      person.refusal(setDisposition, { uid: signals[at] ?? '', disposition: to, rationale }),
  })

const acknowledging = (at: number) =>
  command({
    told: `signal ${at} is seen`,
    model: (model) => model.move(at, 'acknowledged'),
    real: ({ person, signals }) => person.refusal(acknowledge, { uid: signals[at] ?? '' }),
  })

const archiving = (at: number) =>
  command({
    told: `signal ${at} is put away`,
    model: (model) => model.archive(at),
    real: ({ person, signals }) => person.refusal(archive, { uid: signals[at] ?? '' }),
  })

const opening = (at: number) =>
  command({
    told: `an insight about signal ${at}`,
    check: (model) => model.insights.length < 3,
    model: (model) => {
      model.open(at)
      return undefined
    },
    async real({ person, signals, insights, editions }) {
      insights.push(await opened(person, signals[at] ?? ''))
      editions.push([])
      return 200
    },
  })

const linking = (at: number, to: number) =>
  command({
    told: `signal ${at} to insight ${to}`,
    check: hasInsight(to),
    model: (model) => model.link(at, to),
    real: ({ person, signals, insights }) =>
      person.refusal(linkInsight, { uid: signals[at] ?? '', insight_id: insights[to] ?? '' }),
  })

const starting = (to: number) =>
  command({
    told: `insight ${to} is investigated`,
    check: hasInsight(to),
    model: (model) => model.start(to),
    real: ({ person, insights }) => person.refusal(start, { uid: insights[to] ?? '' }),
  })

const drafting = (to: number, closes: boolean) =>
  command({
    told: `insight ${to} gets an edition${closes ? ' that closes' : ''}`,
    check: hasInsight(to),
    model: (model) => model.draft(to, closes),
    async real({ person, insights, editions }) {
      const { value, problem } = await person.ask(draft, { uid: insights[to] ?? '', title: 't', summary: '', closes })
      const made = value?.editions.at(-1)?.edition_id
      if (made) editions[to]?.push(made)
      return problem?.code ?? 200
    },
  })

const attesting = (to: number, number: number) =>
  command({
    told: `edition ${number} of insight ${to} is attested`,
    check: hasInsight(to),
    model: (model) => model.attest(to, number),
    real: ({ person, insights, editions }) =>
      person.refusal(attest, { uid: insights[to] ?? '', edition_id: editions[to]?.[number] ?? 'edn_none' }),
  })

const closing = (to: number) =>
  command({
    told: `insight ${to} is closed`,
    check: hasInsight(to),
    model: (model) => model.close(to),
    real: ({ person, insights }) => person.refusal(close, { uid: insights[to] ?? '', rationale }),
  })

const expiring = command({
  told: 'their time passes',
  model: (model) => {
    model.expire()
    return undefined
  },
  async real({ world, person, signals }) {
    world.clock.advance(lifetime_ms)
    world.wake('intelligence', 'expiry')
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
const insight = fc.nat(2)

export const commands = fc.commands(
  [
    signal.map(opening),
    signal.map(acknowledging),
    fc
      .tuple(signal, fc.constantFrom('acknowledged', 'investigating', 'resolved', 'dismissed'))
      .map(([at, to]) => moving(at, to as Exclude<Status, 'new'>)),
    signal.map(archiving),
    fc.tuple(signal, insight).map(([at, to]) => linking(at, to)),
    insight.map(starting),
    fc.tuple(insight, fc.boolean()).map(([to, closes]) => drafting(to, closes)),
    fc.tuple(insight, fc.nat(1)).map(([to, number]) => attesting(to, number)),
    fc.oneof({ weight: 3, arbitrary: insight.map(closing) }, { weight: 1, arbitrary: fc.constant(expiring) }),
  ],
  { maxCommands: 24, size: '+1' },
)

/** Three signals, and nothing else yet. */
export async function begun(world: SiteWorld, model: LifecycleModel): Promise<Real> {
  const person = await world.as()
  const expires_at = new Date(world.clock.now() + lifetime_ms).toISOString()
  const signals: string[] = []
  for (let count = 0; count < 3; count += 1) {
    signals.push(await raise(person, { expires_at }))
    model.raise()
  }
  return { world, person, signals, insights: [], editions: [] }
}

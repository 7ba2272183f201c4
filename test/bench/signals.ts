// Measures the lists of signals on SQLite at ten thousand and a million: each kind of query, as a caller who may not
// see all of them, and what a hundred times the signals cost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Label } from '../../daemon/kernel/label/label.ts'
import type { Call } from '../../daemon/kernel/operation/call.ts'
import { scopedStore } from '../../daemon/kernel/store/scoped-store.ts'
import type { Collection, Store, StoredFields } from '../../daemon/kernel/store/store.ts'
import { byEntity } from '../../daemon/roles/intelligence/signal/by-entity.ts'
import { list } from '../../daemon/roles/intelligence/signal/list.ts'
import { type StoredSignal, signalStatus, signals } from '../../daemon/roles/intelligence/signal/model.ts'
import { similar } from '../../daemon/roles/intelligence/signal/similar.ts'
import { statistics } from '../../daemon/roles/intelligence/signal/statistics.ts'
import { buildTallyKey } from '../../daemon/roles/intelligence/statistics/rules.ts'
import { severity } from '../../daemon/shared/signal-cause/signal-subject.ts'
import { openSqliteStore } from '../conformance/store-variants.ts'
import type { Figure } from '../support/bench/figure.ts'

const sizes = [10_000, Number(process.env.BENCH_SIGNALS ?? 1_000_000)]
/** Many at a time: each transaction writes the pages of all the indexes that it touched. */
const chunk = 50_000
const rounds = 300
const max_ms = 20
/** Subjects at each size; one signal in fifty is about the first of them. */
const subjects = 2_000
const types = ['threshold', 'watchlist_hit', 'anomaly', 'rare_kind']
const labels = { policy: 'SITE', levels: ['OPEN', 'SECRET'] }
const level = (name: string): Label => ({ policy: 'SITE', level: name, categories: [], originator: 'alpha' })
const rowLabels = [level('OPEN'), level('OPEN'), level('OPEN'), level('SECRET')]
const first_event_ms = Date.parse('2026-01-01T00:00:00.000Z')

/** The same numbers in each run, in no order that an index would know. */
function scramble(n: number): number {
  let at = Math.imul(n ^ 0x9e37_79b9, 0x85eb_ca6b)
  at = Math.imul(at ^ (at >>> 13), 0xc2b2_ae35)
  return (at ^ (at >>> 16)) >>> 0
}

const pick = <T>(of: readonly T[], n: number): T => of[n % of.length] as T

/** Most are over, as at a site that has run for long; one in a thousand is of a rare type. */
function buildSignal(n: number): StoredSignal {
  const at = new Date(first_event_ms + (scramble(n) % 15_552_000) * 1_000).toISOString()
  const roll = scramble(n + 1) % 100
  const status = roll < 60 ? 'resolved' : roll < 90 ? 'dismissed' : pick(signalStatus.options.slice(0, 3), roll)
  const about = scramble(n + 2) % 50 === 0 ? 0 : scramble(n + 3) % subjects
  const subject = { type: 'asset' as const, id: `ship-${about}`, name: `Ship ${about}` }
  const signal_type = scramble(n + 4) % 1_000 === 0 ? 'rare_kind' : pick(types.slice(0, 3), scramble(n + 5))
  const value: StoredSignal = {
    ...{
      tenant_id: 'alpha',
      label: pick(rowLabels, scramble(n + 6)),
      created_by: 'desk',
      created_at: at,
      updated_at: at,
    },
    ...{ request_digest: 'd'.repeat(64), request_key: `sig_${'0'.repeat(32)}`, schema_version: '1.1', signal_type },
    ...{ source: { type: 'polling', name: 'feed-7' }, severity: pick(severity.options, scramble(n + 7)), subject },
    ...{ subject_id: subject.id, title: `Signal ${n}`, detected_at: at, expires_at: at, status },
    ...{ actor: { type: 'service', id: 'desk' }, metadata: { status_history: [] }, links: [], owes: 0 },
    ...{ source_type: 'polling', source_name: 'feed-7', visibility: 'listed', subject_visibility: 'listed' },
    ...{ revision: 1, untold: [], tally: '' },
  }
  return { ...value, tally: buildTallyKey(value) }
}

async function fillStore(store: Store, size: number): Promise<void> {
  for (let at = 0; at < size; at += chunk) {
    const docs = Array.from({ length: Math.min(chunk, size - at) }, (_, n) => {
      return {
        id: `sig_${scramble(at + n)
          .toString(16)
          .padStart(12, '0')}`,
        version: 1,
        value: buildSignal(at + n),
      }
    })
    await store.load(signals as Collection<StoredSignal>, docs)
  }
}

/** The call of the operations: a caller who may see three signals in four. */
function createBenchCall(store: Store): Call {
  const clearance = { level: 'OPEN', categories: [] }
  const caller = { subject: 'ann', tenant_id: 'alpha', roles: [], permissions: new Set<string>(), clearance }
  const scope = { caller, labels, if_match: undefined, onRefusal: () => undefined }
  const own = {
    caller,
    site: { labels },
    store: <T extends StoredFields>(of: Collection<T>) => scopedStore(store, of, scope),
  }
  return own as unknown as Call
}

type ListParameters = Readonly<Record<string, unknown>>

/** A question of each kind, different in each round. */
const listQueries: Readonly<Record<string, (round: number) => ListParameters>> = {
  'by entity': (round) => ({ entity_id: `ship-${scramble(round) % subjects}` }),
  'by entity, the busiest': () => ({ entity_id: 'ship-0' }),
  'by entity, open': (round) => ({ entity_id: 'ship-0', status: pick(signalStatus.options.slice(0, 3), round) }),
  all: () => ({}),
  status: (round) => ({ status: pick(signalStatus.options, round) }),
  severity: (round) => ({ severity: pick(severity.options, round) }),
  type: (round) => ({ signal_type: pick(types, round) }),
  'status and severity': (round) => ({
    status: pick(signalStatus.options, round),
    severity: pick(severity.options, round >> 2),
  }),
  'status and type': (round) => ({ status: pick(signalStatus.options, round), signal_type: pick(types, round >> 1) }),
  'severity and type': (round) => ({ severity: pick(severity.options, round), signal_type: pick(types, round >> 1) }),
  'all three': (round) => ({
    ...{ status: pick(signalStatus.options, round), severity: pick(severity.options, round >> 1) },
    signal_type: pick(types, round >> 2),
  }),
  'a day': (round) => buildDayRange(round),
  'a day, by status': (round) => ({ ...buildDayRange(round), status: pick(signalStatus.options, round) }),
  'all days, by status': (round) => ({
    since: new Date(first_event_ms).toISOString(),
    status: pick(signalStatus.options, round),
  }),
  'the busiest, by a rare type': () => ({ subject_id: 'ship-0', signal_type: 'rare_kind' }),
  'subject and severity': (round) => ({ subject_id: 'ship-0', severity: pick(severity.options, round) }),
}

type MeasuredCall = {
  readonly rounds: number
  readonly atMost: number
  readonly run: (call: Call, round: number) => Promise<unknown>
}

/** Queries of signals other than lists. Statistics count every signal of the span. */
const measuredCalls: Readonly<Record<string, MeasuredCall>> = {
  'statistics of 90 days': { rounds: 20, atMost: 150, run: (call) => statistics.run(call, { until: '2026-05-31' }) },
  'statistics of all days': {
    ...{ rounds: 20, atMost: 300 },
    run: (call) => statistics.run(call, { since: '2026-01-01', until: '2026-07-01' }),
  },
  similar: {
    ...{ rounds, atMost: 50 },
    async run(call, round) {
      const { items } = (await list.run(call, list.input.parse({ limit: 1, ...buildDayRange(round) }))) as SignalPage
      return await similar.run(call, similar.input.parse({ uid: items[0]?.uid ?? '' }))
    },
  },
}
type SignalPage = { readonly items: readonly { readonly uid: string }[] }

async function timeCalls(call: Call, times: number, ask: MeasuredCall['run']): Promise<number[]> {
  const took: number[] = []
  for (let round = 0; round < times; round += 1) {
    const from = performance.now()
    await ask(call, round)
    took.push(performance.now() - from)
  }
  return took.sort((one, other) => one - other)
}

function buildDayRange(round: number): ListParameters {
  const since = first_event_ms + (scramble(round) % 179) * 86_400_000
  return { since: new Date(since).toISOString(), until: new Date(since + 86_400_000).toISOString() }
}

/** The first page, or the second where there is one: half of each. Milliseconds, in order. */
async function timeQueries(call: Call, question: (round: number) => ListParameters): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const input = question(round)
    const ask = async (more: ListParameters = {}) => {
      const operation = 'entity_id' in input ? byEntity : list
      const from = performance.now()
      const page = await operation.run(call, operation.input.parse({ ...input, ...more }) as never)
      return { page, ms: performance.now() - from }
    }
    const first = await ask()
    const cursor = (first.page as { next_cursor?: string }).next_cursor
    times.push(round % 2 === 1 && cursor ? (await ask({ cursor })).ms : first.ms)
  }
  return times.sort((one, other) => one - other)
}

export async function bench(report: (figure: Figure) => void): Promise<void> {
  const found: Record<string, number>[] = []
  for (const size of sizes) {
    const folder = mkdtempSync(path.join(tmpdir(), 'bench-signals-'))
    const { store, file } = openSqliteStore(folder)
    try {
      const from = performance.now()
      await fillStore(store, size)
      report({ figure: `taken in at ${size}`, value: (size * 1e3) / (performance.now() - from), unit: '1/s' })
      const call = createBenchCall(store)
      const p99: Record<string, number> = {}
      for (const [name, question] of Object.entries(listQueries)) {
        await timeQueries(call, question)
        p99[name] = (await timeQueries(call, question))[Math.floor(rounds * 0.99)] ?? Number.NaN
        report({ figure: `${name}, p99 at ${size}`, value: p99[name], unit: 'ms', atMost: max_ms })
      }
      for (const [name, { rounds: times, atMost, run }] of Object.entries(measuredCalls)) {
        const took = await timeCalls(call, times, run)
        p99[name] = took[Math.floor(times * 0.99)] ?? Number.NaN
        report({ figure: `${name}, p99 at ${size}`, value: p99[name], unit: 'ms', atMost })
      }
      found.push(p99)
    } finally {
      await file.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const [small = {}, large = {}] = found
  for (const name of [...Object.keys(listQueries), ...Object.keys(measuredCalls)]) {
    report({ figure: `${name}, growth`, value: (large[name] ?? 0) / (small[name] ?? 1), unit: 'x' })
  }
}

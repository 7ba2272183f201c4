// Statistics of sources: the tally key of a signal, and the confidence interval of a precision.
import * as z from 'zod'
import { type StoredSignal, source as signalSource } from '../signal/model.ts'
import { isOpen } from '../signal/rules.ts'
import {
  type OutcomeCounts,
  type SignalOutcome,
  type SignalPrecision,
  type SourceStatistics,
  signalOutcome,
} from './model.ts'

const sourceType = signalSource.shape.type
type StatisticsSource = SourceStatistics['source']

type CountableSignal = Pick<
  StoredSignal,
  'visibility' | 'status' | 'metadata' | 'detected_at' | 'source' | 'signal_type'
>

/**
 * The tally key of a signal: day of detection (UTC), then its outcome, source and type, so that a span of days is a
 * range of an index. Empty for merged and silenced signals, which are not in plain lists.
 */
export function buildTallyKey({
  visibility,
  status,
  metadata,
  detected_at,
  source,
  signal_type,
}: CountableSignal): string {
  if (visibility !== 'listed') return ''
  const outcome: SignalOutcome = isOpen(status) ? 'open' : metadata.archived ? 'archived' : (status as SignalOutcome)
  return `${detected_at.slice(0, 10)} ${JSON.stringify([outcome, source.type, source.name ?? null, signal_type])}`
}

const tallyContent = z.tuple([signalOutcome, sourceType, z.string().nullable(), z.string()])
const day_characters = '2026-01-01'.length

/** Parses a key of `buildTallyKey`, which begins with the day. */
function parseTallyKey(
  text: string,
): Pick<SourceStatistics, 'source' | 'signal_type'> & { readonly outcome: SignalOutcome } {
  const [counted, type, name, signal_type] = tallyContent.parse(JSON.parse(text.slice(day_characters + 1)))
  return { outcome: counted, source: { type, ...(name === null ? {} : { name }) }, signal_type }
}

/** Bounds of the keys from one day to another, both included. */
export function tallyKeyRange(from: string, to: string): { readonly gte: string; readonly lt: string } {
  // `!` is the character after the space that ends a day.
  return { gte: from, lt: `${to}!` }
}

/** Statistics for each source and type with signals, ordered by source and type. */
export function computeStatistics(counted: ReadonlyMap<string, number>): SourceStatistics[] {
  const lines = new Map<string, { source: StatisticsSource; signal_type: string; counts: OutcomeCounts }>()
  for (const [text, count] of counted) {
    const { outcome: signalOutcome, source, signal_type } = parseTallyKey(text)
    const key = JSON.stringify([source.type, source.name ?? '', signal_type])
    const line = lines.get(key) ?? { source, signal_type, counts: zeroCounts }
    lines.set(key, { ...line, counts: { ...line.counts, [signalOutcome]: line.counts[signalOutcome] + count } })
  }
  const inOrder = [...lines].sort(([left], [right]) => (left < right ? -1 : 1))
  return inOrder.map(([, { source, signal_type, counts }]) => ({ source, signal_type, ...computePrecision(counts) }))
}

const zeroCounts: OutcomeCounts = { open: 0, resolved: 0, dismissed: 0, archived: 0 }

/** The precision over all sources and types. */
export function computeTotal(lines: readonly SourceStatistics[]): SignalPrecision {
  const counts = { ...zeroCounts }
  for (const line of lines) for (const name of signalOutcome.options) counts[name] += line.counts[name]
  return computePrecision(counts)
}

/** The precision and its interval. Archived signals count as dismissed; open ones do not count. */
function computePrecision(counts: OutcomeCounts): SignalPrecision {
  const disposed = counts.resolved + counts.dismissed + counts.archived
  if (disposed === 0) return { counts, disposed, precision: null }
  const precision = counts.resolved / disposed
  return { counts, disposed, precision, interval: wilsonInterval(counts.resolved, disposed) }
}

/** Two-sided 95 %: the 0.975 quantile of the standard normal distribution. */
const z_95 = 1.959_963_984_540_054

/**
 * Wilson's score interval at 95 % for a share of `hits` in `trials`, at least one: it stays within [0, 1] and is
 * valid for few and for many trials. E. B. Wilson, Probable Inference, the Law of Succession, and Statistical
 * Inference, JASA 22 (1927) 209.
 */
export function wilsonInterval(hits: number, trials: number): { readonly low: number; readonly high: number } {
  const share = hits / trials
  const square = z_95 ** 2
  const middle = share + square / (2 * trials)
  const reach = z_95 * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials ** 2))
  const scale = 1 + square / trials
  return { low: Math.max(0, (middle - reach) / scale), high: Math.min(1, (middle + reach) / scale) }
}

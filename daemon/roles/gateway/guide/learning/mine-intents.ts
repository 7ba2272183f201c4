// Guidance by rules from whole traces: which tools, in which order, have served an intent, and which words its prompts have.

import { formatRate, quoteText } from './hint-text.ts'
import type { MinedArtifact } from './mined-artifact.ts'
import { boundRate, type RateSample } from './significance.ts'
import type { TraceRecord } from './trace-record.ts'

/** Of the traces of an intent that succeeded by the same sequence. */
const least_support = 8
/** A sequence is passed on where at least this part of its traces succeeded, by the lower bound. */
const least_rate = 0.5
const max_operations = 16
const max_words = 12
const max_trace_ids = 16

/** A word is one of an intent where it is in at least this part of its prompts, and twice as frequent as in all. */
const word_share = 0.3
const word_lift = 2

/** For each intent, its most frequent sequence of tools among those that succeed. */
export function* mineIntents(traces: readonly TraceRecord[]): Generator<undefined, MinedArtifact[]> {
  const drafts: MinedArtifact[] = []
  const byIntent = Map.groupBy(
    traces.filter(({ intent_class }) => intent_class !== ''),
    ({ intent_class }) => intent_class,
  )
  yield
  const everyWord = countWords(traces)
  yield
  for (const [intent, ofIntent] of byIntent) {
    const best = findSequence(ofIntent)
    if (best) drafts.push(draftPattern(intent, best, chooseWords(ofIntent, everyWord, traces.length)))
    yield
  }
  return drafts
}

type Sequence = { readonly operations: readonly string[]; readonly rate: RateSample; readonly trace_ids: string[] }

function findSequence(traces: readonly TraceRecord[]): Sequence | undefined {
  const sequences = Map.groupBy(traces, (trace) => JSON.stringify(listOperations(trace)))
  let best: Sequence | undefined
  for (const [json, of] of [...sequences].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const operations: string[] = listOperations(of[0])
    const succeeded = of.filter(({ isSuccess }) => isSuccess)
    const rate = { successes: succeeded.length, trials: of.length }
    if (json === '[]' || succeeded.length < least_support || boundRate(rate).low < least_rate) continue
    if (isOfOneCaller(succeeded)) continue
    if (best && best.rate.successes >= succeeded.length) continue
    best = { operations, rate, trace_ids: succeeded.map(({ trace_id }) => trace_id).slice(-max_trace_ids) }
  }
  return best
}

/** Whether one caller made more of them than all others together, less a half of the support: no one may teach others alone. */
function isOfOneCaller(traces: readonly TraceRecord[]): boolean {
  const most = Math.max(...[...Map.groupBy(traces, ({ caller }) => caller).values()].map(({ length }) => length))
  return traces.length - most < least_support / 2
}

/** Calls that succeeded, each tool once: repeats after a failure are no part of the way. */
function listOperations(trace: TraceRecord | undefined): string[] {
  const succeeded = trace?.calls.filter(({ isFailure }) => !isFailure) ?? []
  return [...new Set(succeeded.map(({ tool }) => tool))].slice(0, max_operations)
}

function draftPattern(intent_class: string, sequence: Sequence, words: readonly string[]): MinedArtifact {
  const { operations, rate, trace_ids } = sequence
  const names = operations.map(quoteText).join(', then ')
  return {
    key: JSON.stringify([intent_class]),
    type: 'IntentPattern',
    applicability: { intent_class, tags: [] },
    content: {
      ...{ intent_class, words: [...words], operations: [...operations] },
      ...{ support: rate.successes, confidence: boundRate(rate).low },
    },
    rationale: `Requests of the kind ${quoteText(intent_class)} succeeded ${formatRate(rate)} times by ${names}.`,
    trace_ids,
  }
}

function countWords(traces: readonly TraceRecord[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { words } of traces) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function chooseWords(traces: readonly TraceRecord[], every: ReadonlyMap<string, number>, total: number): string[] {
  const callersOf = (word: string) => new Set(traces.flatMap((of) => (of.words.includes(word) ? [of.caller] : []))).size
  return [...countWords(traces)]
    .filter(([word, count]) => {
      const share = count / traces.length
      return share >= word_share && share >= (word_lift * (every.get(word) ?? 0)) / total
    })
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, max_words)
    .map(([word]) => word)
    .filter((word) => callersOf(word) >= 2)
}

// The report of a replay of the guidance layer, for people.
import { formatFields, formatTable, type OutputRow, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

type RateFields = { readonly successes: number; readonly trials: number; readonly rate: number | null } & BoundFields
type BoundFields = { readonly bounds: { readonly low: number; readonly high: number } }
type EffectFields = BoundFields & {
  readonly artifact_id: string
  readonly verdict: string
  readonly difference: number
  readonly attached: SampleFields
  readonly held_out: SampleFields
}
type SampleFields = { readonly successes: number; readonly trials: number }

/** The part of the report that is shown as text; `--json` has the whole. */
export type ShownReport = {
  readonly ended: string
  readonly observations: number
  readonly bad_lines: number
  readonly first_bad_line?: string
  readonly from?: string
  readonly until?: string
  readonly learn_until?: string
  readonly measured_traces: number
  readonly success_rate: RateFields
  readonly hit_rate: { readonly traces: RateFields; readonly calls: RateFields; readonly failures: RateFields }
  readonly uplift:
    | { readonly isMeasurable: false; readonly reason: string }
    | (BoundFields & { readonly isMeasurable: true; readonly difference: number })
  readonly effects: readonly EffectFields[]
  readonly drift: {
    readonly others: number
    readonly delays: readonly {
      readonly change: { readonly at_ms: number; readonly tool?: string | undefined }
      readonly found?: { readonly rule: string; readonly delay_events: number; readonly delay_ms: number }
    }[]
  }
  readonly learning_curve: readonly {
    readonly until_ts: number
    readonly traces: number
    readonly successes: number
    readonly all_calls: number
    readonly calls: number
    readonly failures: number
    readonly foreseen: number
    readonly artifacts: number
  }[]
  readonly learnt: readonly OutputRow[]
}

const ends: Readonly<Record<string, string | undefined>> = {
  time_limit: 'at the time limit: the figures are of what was read until then',
  interrupted: 'interrupted: the figures are of what was read until then',
}

export function formatReplayReport(terminal: Terminal, report: ShownReport): string {
  const { observations, from, until, learn_until, measured_traces, hit_rate, uplift, drift } = report
  const fields = {
    ended: ends[report.ended],
    ...{ observations, from, until, learn_until, measured_traces },
    bad_lines: report.bad_lines === 0 ? undefined : `${report.bad_lines}, the first: ${report.first_bad_line}`,
    success_rate: formatRate(report.success_rate),
    traces_with_guidance: formatRate(hit_rate.traces),
    calls_with_guidance: formatRate(hit_rate.calls),
    failures_foreseen: formatRate(hit_rate.failures),
    uplift: uplift.isMeasurable
      ? `${signed(uplift.difference)} (${formatBounds(uplift, signed)})`
      : `not measurable: ${uplift.reason}`,
    other_drifts: drift.others,
  }
  const effectColumns = ['artifact_id', 'effect', 'bounds', 'with_it', 'without_it', 'verdict']
  const curveColumns = ['until', 'traces', 'success', 'calls_with_guidance', 'failures_foreseen', 'artifacts']
  return [
    formatFields(terminal, fields),
    formatTable(terminal, report.learnt, ['type', 'status', 'learnt_at', 'rationale'], 'nothing was learnt'),
    formatTable(terminal, report.effects.map(toEffectRow), effectColumns, 'no artifact has traces with and without it'),
    formatTable(
      terminal,
      drift.delays.map(toDelayRow),
      ['change', 'tool', 'found', 'after_events', 'after_s'],
      'the input names no changes',
    ),
    formatTable(terminal, report.learning_curve.map(toCurveRow), curveColumns, 'no trace was measured'),
  ].join(paragraph_break)
}

function formatRate({ successes, trials, rate, bounds }: RateFields): string {
  if (rate === null) return 'none'
  return `${successes} of ${trials}: ${rate.toFixed(3)} (${formatBounds({ bounds }, (value) => value.toFixed(3))})`
}

function formatBounds({ bounds }: BoundFields, format: (value: number) => string): string {
  return `${format(bounds.low)} to ${format(bounds.high)}`
}

const signed = (value: number) => `${value < 0 ? '' : '+'}${value.toFixed(3)}`

function toEffectRow(effect: EffectFields): OutputRow {
  const { artifact_id, verdict, difference, attached, held_out } = effect
  return {
    ...{ artifact_id, verdict, effect: signed(difference), bounds: formatBounds(effect, signed) },
    with_it: `${attached.successes} of ${attached.trials}`,
    without_it: `${held_out.successes} of ${held_out.trials}`,
  }
}

function toDelayRow({ change, found }: ShownReport['drift']['delays'][number]): OutputRow {
  const { rule = 'not found', delay_events, delay_ms } = found ?? {}
  return {
    ...{ change: toIso(change.at_ms), tool: change.tool, found: rule, after_events: delay_events },
    after_s: delay_ms === undefined ? undefined : delay_ms / 1_000,
  }
}

function toCurveRow(span: ShownReport['learning_curve'][number]): OutputRow {
  const share = (part: number, whole: number) => (whole === 0 ? undefined : (part / whole).toFixed(2))
  return {
    ...{ until: toIso(span.until_ts), traces: span.traces, artifacts: span.artifacts },
    success: share(span.successes, span.traces),
    calls_with_guidance: share(span.calls, span.all_calls),
    failures_foreseen: share(span.foreseen, span.failures),
  }
}

const toIso = (ms: number) => new Date(ms).toISOString()

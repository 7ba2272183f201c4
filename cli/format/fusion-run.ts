// Formats a run of entity resolution.
import type { ApiObject } from '../client/client.ts'
import { formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatDelay } from './job-delay.ts'

type ShownEstimate = { readonly value: number; readonly low: number; readonly high: number }

type FusionRunItem = {
  readonly uid: string
  readonly state: string
  readonly lens: string
  readonly lens_version: string
  readonly counts: Readonly<Record<string, number>>
  readonly progress?: { readonly step: string; readonly done: number; readonly total: number; readonly eta_s?: number }
  readonly quality?: {
    readonly verdict: string
    readonly route_reason: string
    readonly precision?: ShownEstimate
    readonly recall?: ShownEstimate
  }
  readonly failure?: { readonly code: string; readonly reason: string }
  readonly created_at: string
}

export function formatFusionRun(terminal: Terminal, run: ApiObject): string {
  const { uid, state, lens, lens_version, counts, progress, quality, failure, created_at } =
    run as unknown as FusionRunItem
  return formatFields(terminal, {
    run: uid,
    state,
    lens: `${lens} ${lens_version}`,
    ...counts,
    ...(progress ? { progress: formatRunProgress(progress) } : {}),
    ...(quality && {
      verdict: quality.verdict,
      route_reason: quality.route_reason,
      precision: formatEstimate(quality.precision),
      recall: formatEstimate(quality.recall),
    }),
    ...formatDelay(run),
    ...(failure ? { failure: failure.reason } : {}),
    created_at,
  })
}

function formatEstimate(estimate: ShownEstimate | undefined): string | undefined {
  return estimate && `about ${estimate.value} (${estimate.low} to ${estimate.high})`
}

function formatRunProgress({ step, done, total, eta_s }: NonNullable<FusionRunItem['progress']>): string {
  const amount = total > 0 ? ` ${done} of ${total}` : ''
  return `${step}${amount}${eta_s === undefined ? '' : `, ${eta_s} s left`}`
}

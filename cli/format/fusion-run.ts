// Formats a run of entity resolution.
import { describeQuality } from '../../daemon/roles/resolution/explain/describe-quality.ts'
import type { ResultQuality } from '../../daemon/roles/resolution/fusion-run/result-quality.ts'
import type { ApiObject } from '../client/client.ts'
import { formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatDelay } from './job-delay.ts'

type FusionRunItem = {
  readonly uid: string
  readonly state: string
  readonly lens: string
  readonly lens_version: string
  readonly counts: Readonly<Record<string, number>>
  readonly progress?: { readonly step: string; readonly done: number; readonly total: number; readonly eta_s?: number }
  readonly quality?: ResultQuality
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
    ...(quality ? describeQuality(quality) : {}),
    ...formatDelay(run),
    ...(failure ? { failure: failure.reason } : {}),
    created_at,
  })
}

function formatRunProgress({ step, done, total, eta_s }: NonNullable<FusionRunItem['progress']>): string {
  const amount = total > 0 ? ` ${done} of ${total}` : ''
  return `${step}${amount}${eta_s === undefined ? '' : `, ${eta_s} s left`}`
}

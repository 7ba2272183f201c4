// Formats a run of entity resolution, and waits for one to end or to be held.
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiObject, ServiceClient } from '../client/client.ts'
import { CommandFailure } from '../program/command.ts'
import { formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatDelay } from './job-delay.ts'

type ShownEstimate = { readonly value: number; readonly low: number; readonly high: number }

type FusionRunItem = {
  readonly uid: string
  readonly state: string
  readonly goal: string
  readonly held?: 'poor' | 'no_links'
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
  const { uid, state, held, lens, lens_version, counts, progress, quality, failure, created_at } =
    run as unknown as FusionRunItem
  return formatFields(terminal, {
    run: uid,
    state,
    ...(held ? { held: heldTexts[held] } : {}),
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

const heldTexts = {
  poor: 'the result is poor, and the registry is unchanged',
  no_links: 'no two records are linked, which would split entities; the registry is unchanged',
}

const poll_interval_ms = 200

/**
 * Polls until the run has reached its goal or has ended. It runs in the service, also if this command is interrupted. Throws
 * `CommandFailure`: 1 for a run that failed, 3 for one that was cancelled.
 */
export async function waitForRun(api: ServiceClient, run: ApiObject, terminal: Terminal): Promise<ApiObject> {
  let latest = run
  try {
    while (!isRunAtRest(latest as unknown as FusionRunItem)) {
      const { state, progress } = latest as unknown as FusionRunItem
      terminal.progress(`${progress ? formatRunProgress(progress) : state}; platform resolve cancel ${run.uid}`)
      await pause(poll_interval_ms)
      latest = await api.call('resolution.fusion-run.status', { run_id: run.uid })
    }
  } finally {
    terminal.progress('')
  }
  const { uid, state, failure } = latest as unknown as FusionRunItem
  if (failure) throw new CommandFailure(1, `the run ${uid} failed: ${failure.reason}`)
  if (state === 'cancelled') throw new CommandFailure(3, `the run ${uid} was cancelled`)
  return latest
}

function isRunAtRest({ state, goal }: FusionRunItem): boolean {
  return state === goal || ['completed', 'failed', 'cancelled'].includes(state)
}

/** The failure of a command that waits for a run, if the run is held; undefined for any other run. */
export function findHeldRunFailure(run: ApiObject): CommandFailure | undefined {
  const { uid, held } = run as unknown as FusionRunItem
  if (!held) return undefined
  return new CommandFailure(
    6,
    `the run ${uid} is held: ${heldTexts[held]}`,
    `give the lens fields that tell entities apart, or raise its threshold; platform resolve accept ${uid} takes the result as it is, platform resolve cancel ${uid} drops it`,
  )
}

function formatEstimate(estimate: ShownEstimate | undefined): string | undefined {
  return estimate && `about ${estimate.value} (${estimate.low} to ${estimate.high})`
}

function formatRunProgress({ step, done, total, eta_s }: NonNullable<FusionRunItem['progress']>): string {
  const amount = total > 0 ? ` ${done} of ${total}` : ''
  return `${step}${amount}${eta_s === undefined ? '' : `, ${eta_s} s left`}`
}

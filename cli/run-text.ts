// A run of entity resolution as people read it.
import type { Answered } from './client/client.ts'
import { fields } from './output.ts'
import type { Terminal } from './terminal.ts'

type Run = {
  readonly uid: string
  readonly state: string
  readonly lens: string
  readonly lens_version: string
  readonly counts: Readonly<Record<string, number>>
  readonly progress?: { readonly step: string; readonly done: number; readonly total: number; readonly eta_s?: number }
  readonly failure?: { readonly code: string; readonly reason: string }
  readonly created_at: string
}

export function runText(terminal: Terminal, answered: Answered): string {
  const { uid, state, lens, lens_version, counts, progress, failure, created_at } = answered as unknown as Run
  return fields(terminal, {
    run: uid,
    state,
    lens: `${lens} ${lens_version}`,
    ...counts,
    ...(progress ? { progress: progressText(progress) } : {}),
    ...(failure ? { failure: failure.reason } : {}),
    created_at,
  })
}

function progressText({ step, done, total, eta_s }: NonNullable<Run['progress']>): string {
  const part = total > 0 ? ` ${done} of ${total}` : ''
  return `${step}${part}${eta_s === undefined ? '' : `, ${eta_s} s left`}`
}

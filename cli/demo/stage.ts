// Where the demo plays: two sites, the roads between them, and whoever walks them.
import { carry, type Link } from './carrier.ts'
import type { DemoSite } from './demo-site.ts'
import { until } from './until.ts'

export type Stage = {
  /** Proposes, and asks; its contributors are alice and carol. */
  readonly home: DemoSite
  /** Invited; speaks with one voice, its tenant's, by bob. */
  readonly guest: DemoSite
  readonly links: readonly Link[]
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

export const classification = { level: 'RESTRICTED', releasable_to: ['alpha', 'bravo'] }

/** Carries until it holds. */
export async function carrying({ links, signal }: Stage, what: string, holds: () => Promise<boolean>): Promise<void> {
  await until(what, signal, async () => {
    for (const way of links) carry(way)
    return holds()
  })
}

// Where the demo plays: two sites, the roads between them, and whoever walks them.
import { type CarrierLink, carryMessages } from './carrier-link.ts'
import type { DemoSite } from './demo-site.ts'
import { waitUntil } from './wait-until.ts'

export type DemoStage = {
  /** Proposes, and asks; its contributors are alice and carol. */
  readonly home: DemoSite
  /** Invited; speaks with one voice, its tenant's, by bob. */
  readonly guest: DemoSite
  readonly links: readonly CarrierLink[]
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

export const demoClassification = { level: 'RESTRICTED', releasable_to: ['alpha', 'bravo'] }

/** Carries until it holds. */
export async function carryUntil(
  { links, signal }: DemoStage,
  what: string,
  holds: () => Promise<boolean>,
): Promise<void> {
  await waitUntil(what, signal, async () => {
    for (const way of links) carryMessages(way)
    return holds()
  })
}

// The setting of the demo: two sites and the carrier links between them.
import { type CarrierLink, carryMessages } from './carrier-link.ts'
import type { DemoSite } from './demo-site.ts'
import { waitUntil } from './wait-until.ts'

export type DemoStage = {
  /** Proposes the exchange and opens the sessions; its contributors are alice and carol. */
  readonly home: DemoSite
  /** Invited to the sessions; its only contributor is bob, on behalf of its tenant. */
  readonly remote: DemoSite
  readonly links: readonly CarrierLink[]
  readonly signal: AbortSignal
  readonly printLine: (line: string) => void
}

export const demoClassification = { level: 'RESTRICTED', releasable_to: ['alpha', 'bravo'] }

/** Carries messages over all links until the condition holds. */
export async function carryUntil(
  { links, signal }: DemoStage,
  expectation: string,
  holds: () => Promise<boolean>,
): Promise<void> {
  await waitUntil(expectation, signal, async () => {
    for (const link of links) carryMessages(link)
    return holds()
  })
}

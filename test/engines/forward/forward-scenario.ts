// A scenario of forwarding: the bytes of a client and an upstream, and the outcome for both.
import { expect, vi } from 'vitest'
import type { RawConnection } from '../../support/proxy/raw-upstream.ts'
import type { RawClient } from '../../support/proxy/test-data-listener.ts'
import { pollOptions } from '../../support/proxy/upstream-fixture.ts'

export type ForwardStage = {
  /** Opens a connection to the forwarder and sends. */
  client(bytes: string): Promise<RawClient>
  /** The connection of the scenario at the upstream, with its request. */
  upstream(): Promise<RawConnection>
  /** Connections that the upstream has had in this scenario. */
  connections(): readonly RawConnection[]
}

/** The outcome, in words and bytes that do not depend on the time. */
export type ScenarioOutcome = Readonly<Record<string, string | number | boolean>>

export type ForwardScenario = {
  readonly name: string
  readonly answer?: (connection: RawConnection) => void
  /** The upstream goes on when the forwarder has ended its side. */
  readonly isHalfOpen?: boolean
  readonly play: (stage: ForwardStage) => Promise<ScenarioOutcome>
  readonly difference?: ScenarioDifference
}

/** Why the outcomes differ, and how. Absent: they are equal. */
export type ScenarioDifference = { readonly reason: string; readonly values: DifferingValues }

/** `[ours, nginx]` of each value that differs. */
type DifferingValues = Readonly<Record<string, readonly [unknown, unknown]>>

export function findDifferences(own: ScenarioOutcome, other: ScenarioOutcome): DifferingValues {
  const differing = Object.keys({ ...own, ...other }).filter((key) => own[key] !== other[key])
  return Object.fromEntries(differing.map((key) => [key, [own[key], other[key]]]))
}

export const waitFor = (check: () => void): Promise<void> => vi.waitFor(check, pollOptions)

/** The first connection once it has a whole request head: what an upstream sends before is no response to a request. */
export async function waitForRequest(connections: () => readonly RawConnection[]): Promise<RawConnection> {
  await waitFor(() => expect(connections()[0]?.text).toContain('\r\n\r\n'))
  return connections()[0] as RawConnection
}

/** A loaded machine may pause a client of a scenario for long; the limit on slow readers has tests of its own. */
export const patientLimits = { answer_grace_ms: 3_600_000 }

/** Waits until a number stays the same over many turns of the event loop and of the sockets. */
export async function waitForRest(measure: () => number): Promise<void> {
  let last = Number.NaN
  for (let same = 0; same < 2_000; ) {
    await new Promise((resolve) => setImmediate(resolve))
    const next = measure()
    same = next === last ? same + 1 : 0
    last = next
  }
}

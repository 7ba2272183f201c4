// Every check that a message passes before anything acts on it, in the order of the format, as one table.
import type { Journal } from '../../../daemon/kernel/journal.ts'
import type { PublicKey, Signatures } from '../../../daemon/kernel/keys.ts'
import type { LabelPolicy } from '../../../daemon/kernel/label.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { contentCheck, digestCheck, labelCheck } from './content-checks.ts'
import { jsonCheck, kindCheck, nameCheck, sizeCheck } from './file-checks.ts'
import { channelCheck, destinationCheck, freshnessCheck } from './place-checks.ts'
import type { Fault } from './reasons.ts'
import { sequenceCheck } from './sequence-check.ts'
import { signatureCheck, statementCheck } from './signature-checks.ts'
import type { Specimen } from './specimen.ts'

/** Whom the message must come from. */
export type Trust = {
  readonly signatures: Pick<Signatures, 'verify'>
  readonly pinned: readonly PublicKey[]
  readonly threshold: number
}

/** Where the message arrived; offline there is no such place, and the checks that ask for it are not made. */
export type Place = {
  readonly site: string
  readonly tenant_id: string
  readonly releasable_names: readonly string[]
  readonly peer: Peer
  readonly channel: string
  readonly epoch: number
  readonly journal: Pick<Journal, 'entry' | 'progress'>
  readonly label_policy: LabelPolicy
  readonly now: number
  readonly skew_ms: number
  readonly trusted_clock: boolean
}

type Answer = Fault | undefined | Promise<Fault | undefined>
export type Check =
  | { readonly name: string; readonly at: 'anywhere'; readonly run: (specimen: Specimen, trust: Trust) => Answer }
  | { readonly name: string; readonly at: 'place'; readonly run: (specimen: Specimen, place: Place) => Answer }

export const checks: readonly Check[] = [
  { name: 'name', at: 'anywhere', run: nameCheck },
  { name: 'kind', at: 'anywhere', run: kindCheck },
  { name: 'size', at: 'anywhere', run: sizeCheck },
  { name: 'json', at: 'anywhere', run: jsonCheck },
  { name: 'signature', at: 'anywhere', run: signatureCheck },
  { name: 'statement', at: 'anywhere', run: statementCheck },
  { name: 'destination', at: 'place', run: destinationCheck },
  { name: 'channel', at: 'place', run: channelCheck },
  { name: 'freshness', at: 'place', run: freshnessCheck },
  { name: 'sequence', at: 'place', run: sequenceCheck },
  { name: 'digest', at: 'anywhere', run: digestCheck },
  { name: 'label', at: 'place', run: labelCheck },
  { name: 'schema', at: 'anywhere', run: contentCheck },
]

/** From here on the message is known to be the one that its sender signed under this number, body included. */
const proven = checks.findIndex(({ name }) => name === 'digest')

export type Finding =
  | { readonly found: 'sound' }
  /** The ledger has closed this very statement already. */
  | { readonly found: 'settled' }
  | { readonly found: 'fault'; readonly check: string; readonly fault: Fault; readonly isProven: boolean }

/** Makes the checks in order until one fails. Never throws on what a stranger wrote; throws when the disk fails. */
export async function examine(specimen: Specimen, trust: Trust, place: Place): Promise<Finding> {
  for (const [index, check] of checks.entries()) {
    const fault = await (check.at === 'place' ? check.run(specimen, place) : check.run(specimen, trust))
    if (fault) return { found: 'fault', check: check.name, fault, isProven: index > proven }
    if (specimen.entry && specimen.entry.state !== 'received') return { found: 'settled' }
  }
  return { found: 'sound' }
}

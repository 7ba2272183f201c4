// Every check that a message passes before anything acts on it, in the order of the format, as one table.
import { hasEnded } from '../../../../daemon/kernel/journal.ts'
import type { PublicKey, Signatures } from '../../../../daemon/kernel/keys.ts'
import type { LabelPolicy } from '../../../../daemon/kernel/label.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import type { StatementFormat } from '../../../../daemon/kernel/statement-format.ts'
import type { Fault } from '../reasons.ts'
import type { Ledger } from '../receiving/ledger.ts'
import { contentCheck, digestCheck, labelCheck } from './content-checks.ts'
import { jsonCheck, kindCheck, nameCheck, sizeCheck } from './file-checks.ts'
import { channelCheck, destinationCheck, freshnessCheck } from './place-checks.ts'
import { sequenceCheck } from './sequence-check.ts'
import { signatureCheck, statementCheck } from './signature-checks.ts'
import type { Specimen } from './specimen.ts'

/** Whom the message must come from, and in which versions. */
export type Trust = {
  readonly signatures: Pick<Signatures, 'verify'>
  readonly pinned: readonly PublicKey[]
  readonly threshold: number
  readonly formats: readonly StatementFormat[]
}

/** Where the message arrived; offline there is no such place, and the checks that ask for it are not made. */
export type Place = {
  readonly site: string
  readonly tenant_id: string
  readonly releasable_names: readonly string[]
  readonly peer: Peer
  readonly channel: string
  readonly label_policy: LabelPolicy
  readonly now: number
  readonly skew_ms: number
  readonly trusted_clock: boolean
}

type Found = Fault | undefined
export type Check =
  | {
      readonly name: string
      readonly at: 'anywhere'
      readonly run: (of: Specimen, trust: Trust) => Found | Promise<Found>
    }
  | { readonly name: string; readonly at: 'place'; readonly run: (of: Specimen, place: Place, ledger: Ledger) => Found }
  | { readonly name: string; readonly at: 'body'; readonly run: (of: Specimen) => Found }

/** `anywhere`: with public keys alone. `place`: only where the message arrived. `body`: of the bytes that were signed for. */
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
  { name: 'digest', at: 'body', run: digestCheck },
  { name: 'label', at: 'place', run: labelCheck },
  { name: 'schema', at: 'body', run: contentCheck },
]

/** From here on the message is known to be the one that its sender signed under this number, body included. */
const proven = checks.findIndex(({ name }) => name === 'digest')

export type Finding =
  | { readonly found: 'sound' }
  /** The ledger has closed this very statement already. */
  | { readonly found: 'settled' }
  /** Its epoch is the next, and not open yet. */
  | { readonly found: 'early' }
  | { readonly found: 'fault'; readonly fault: Fault; readonly isProven: boolean }

/**
 * The checks that need nothing but the message and the keys; many messages can be verified at once. Never throws on
 * what a stranger wrote.
 */
export async function verify(specimen: Specimen, trust: Trust): Promise<Fault | undefined> {
  for (const check of checks) {
    if (check.at !== 'anywhere') break
    const fault = await check.run(specimen, trust)
    if (fault) return fault
  }
  return undefined
}

/** The checks that follow, of a message that is verified: one after the other, in the order of the numbers. */
export function judge(specimen: Specimen, place: Place, ledger: Ledger): Finding {
  for (const [index, check] of checks.entries()) {
    if (check.at === 'anywhere') continue
    const fault = check.at === 'place' ? check.run(specimen, place, ledger) : check.run(specimen)
    if (fault) return { found: 'fault', fault, isProven: index > proven }
    if (specimen.entry && hasEnded(specimen.entry)) return { found: 'settled' }
    if (specimen.isEarly) return { found: 'early' }
  }
  return { found: 'sound' }
}

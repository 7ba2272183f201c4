// The table of all checks that a message passes before anything acts on it, in the order of the format.

import type { PublicKey, Signatures } from '../../../../daemon/kernel/cryptography/signatures.ts'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import type { LabelPolicy } from '../../../../daemon/kernel/label/label.ts'
import { hasEnded } from '../../../../daemon/kernel/messaging/ledger.ts'
import type { StatementFormat } from '../../../../daemon/kernel/messaging/statement-format.ts'
import type { SliceRunner } from '../../../../daemon/kernel/role/run-in-slices.ts'
import type { MessageFault } from '../quarantine-reasons.ts'
import type { BatchLedger } from '../receiving/batch/batch-ledger.ts'
import { contentCheck, digestCheck, labelCheck } from './content-checks.ts'
import { channelCheck, destinationCheck, freshnessCheck } from './destination-checks.ts'
import { jsonCheck, kindCheck, nameCheck, sizeCheck } from './file-checks.ts'
import type { MessageExamination } from './message-examination.ts'
import { sequenceCheck } from './sequence-check.ts'
import { signatureCheck, statementCheck } from './signature-checks.ts'

/** The expected sender, and the accepted versions. */
export type SenderTrust = {
  readonly signatures: Pick<Signatures, 'verify'>
  readonly pinned: readonly PublicKey[]
  readonly threshold: number
  /** Distinct root keys that must sign an epoch, and the next key set. */
  readonly root_threshold: number
  readonly formats: readonly StatementFormat[]
}

/** Where the message arrived; absent offline, where the checks that need it are not made. */
export type MessageDestination = {
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

type CheckResult = MessageFault | undefined
export type MessageCheck =
  | {
      readonly name: string
      readonly at: 'offline'
      readonly run: (of: MessageExamination, trust: SenderTrust) => CheckResult | Promise<CheckResult>
    }
  | {
      readonly name: string
      readonly at: 'destination'
      readonly run: (of: MessageExamination, destination: MessageDestination, ledger: BatchLedger) => CheckResult
    }
  | {
      readonly name: string
      readonly at: 'body'
      /** A computation for `runInSlices`. */
      readonly run: (of: MessageExamination) => Iterator<undefined, CheckResult>
    }

/**
 * `offline`: needs the files and public keys only. `destination`: needs the site where the message arrived. `body`: reads the
 * signed body.
 */
export const messageChecks: readonly MessageCheck[] = [
  { name: 'name', at: 'offline', run: nameCheck },
  { name: 'kind', at: 'offline', run: kindCheck },
  { name: 'size', at: 'offline', run: sizeCheck },
  { name: 'json', at: 'offline', run: jsonCheck },
  { name: 'signature', at: 'offline', run: signatureCheck },
  { name: 'statement', at: 'offline', run: statementCheck },
  { name: 'destination', at: 'destination', run: destinationCheck },
  { name: 'channel', at: 'destination', run: channelCheck },
  { name: 'freshness', at: 'destination', run: freshnessCheck },
  { name: 'sequence', at: 'destination', run: sequenceCheck },
  { name: 'digest', at: 'body', run: digestCheck },
  { name: 'label', at: 'destination', run: labelCheck },
  { name: 'schema', at: 'body', run: contentCheck },
]

/** From here on the message is known to be the one that its sender signed under this number, body included. */
const digest_check_index = messageChecks.findIndex(({ name }) => name === 'digest')

export type MessageJudgement =
  | { readonly found: 'sound' }
  /** The ledger has closed this very statement already. */
  | { readonly found: 'settled' }
  /** Its epoch is the next, and not open yet. */
  | { readonly found: 'early' }
  | { readonly found: 'fault'; readonly fault: MessageFault; readonly isProven: boolean }

/**
 * The checks that need nothing but the message and the keys; many messages can be verified at once. Never throws on
 * untrusted input.
 */
export async function verifyMessage(
  examination: MessageExamination,
  trust: SenderTrust,
): Promise<MessageFault | undefined> {
  for (const check of messageChecks) {
    if (check.at !== 'offline') break
    const fault = await check.run(examination, trust)
    if (fault) return fault
  }
  return undefined
}

/** The checks that follow, of a message that is verified: one after the other, in the order of the numbers. */
export async function judgeMessage(
  examination: MessageExamination,
  destination: MessageDestination,
  ledger: BatchLedger,
  runSliced: SliceRunner,
): Promise<MessageJudgement> {
  for (const [index, check] of messageChecks.entries()) {
    if (check.at === 'offline') continue
    const fault =
      check.at === 'destination' ? check.run(examination, destination, ledger) : await runSliced(check.run(examination))
    if (fault) return { found: 'fault', fault, isProven: index > digest_check_index }
    if (examination.entry && hasEnded(examination.entry)) return { found: 'settled' }
    if (examination.isEarly) return { found: 'early' }
  }
  return { found: 'sound' }
}

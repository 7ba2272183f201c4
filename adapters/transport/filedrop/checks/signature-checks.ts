// Verifies the signed bytes first, then parses those same bytes.

import {
  findSignerFault,
  type SignerFault,
  selectCountingKeys,
} from '../../../../daemon/kernel/cryptography/counting-signers.ts'
import type {
  PublicKey,
  VerificationFailure,
  VerifiedPayload,
} from '../../../../daemon/kernel/cryptography/signatures.ts'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { readStatement } from '../../../../daemon/kernel/messaging/statement-format.ts'
import { parseMessageName } from '../files/message-name.ts'
import { fault, type MessageFault, type QuarantineReason } from '../quarantine-reasons.ts'
import { shapeFault } from './file-checks.ts'
import type { SenderTrust } from './message-checks.ts'
import { type MessageExamination, requireEstablished } from './message-examination.ts'
import { readMessageJson } from './message-json.ts'

const signerFaults: Readonly<Record<SignerFault, (use: PublicKey['use']) => [QuarantineReason, string]>> = {
  bad_signature: () => ['BAD_SIG', 'a signature does not hold'],
  key_revoked: () => ['KEY_REVOKED', 'the key that signed it is revoked'],
  unknown_key: (use) => ['UNKNOWN_KEY', `no pinned ${use} key of the peer signed it`],
  key_ended: (use) => ['UNKNOWN_KEY', `the ${use} keys signed it after their own end`],
  too_few: (use) => ['THRESHOLD', `fewer ${use} keys signed it than the peer’s threshold requires`],
}

export async function signatureCheck(
  examination: MessageExamination,
  trust: SenderTrust,
): Promise<MessageFault | undefined> {
  const keys = trust.pinned.filter((key) => key.use === 'message')
  const verified = await trust.signatures.verify('statement', requireEstablished(examination, 'jws'), keys)
  if (typeof verified !== 'string') {
    examination.payload = Buffer.from(verified.payload)
    examination.signers = verified.keys
  }
  return signersFault(verified, { threshold: trust.threshold, use: 'message' })
}

/** `use`: of the required keys. `made`: when the signed object says that it was made; absent before it is read. */
type SignerRequirement = { readonly threshold: number; readonly use: PublicKey['use']; readonly made?: string }

export function signersFault(
  verified: Pick<VerifiedPayload, 'keys'> | VerificationFailure,
  { threshold, use, made }: SignerRequirement,
): MessageFault | undefined {
  const found = findSignerFault(verified, threshold, made)
  return found && faultOfSigners(found, use)
}

export function faultOfSigners(found: SignerFault, use: PublicKey['use']): MessageFault {
  return fault(...signerFaults[found](use))
}

export function statementCheck(
  examination: MessageExamination,
  { formats, threshold }: SenderTrust,
): MessageFault | undefined {
  const payload = requireEstablished(examination, 'payload')
  const read = readMessageJson(payload)
  if (read.outcome === 'incomplete') return fault('BAD_JSON', 'the statement does not end')
  if (read.outcome !== 'value') return fault(read.outcome, `the statement: ${read.detail}`)
  const reading = readStatement(read.value, formats)
  if (reading.read === 'unknown_version') return fault('TYPE', 'this site does not read the version of the statement')
  if (reading.read === 'fault') {
    const isType = reading.error.issues.some(({ path }) => ['type', 'kind'].includes(String(path[0])))
    if (isType) return fault('TYPE', 'this site does not know the kind of the message')
    return shapeFault('the statement', reading.error, 'SCHEMA')
  }
  const { statement } = reading
  const name = parseMessageName(examination.name)
  if (name?.epoch !== statement.epoch || name.seq !== statement.seq) {
    return fault('NAME', 'the file is not named after its statement')
  }
  const keys = requireEstablished(examination, 'signers')
  const late = signersFault({ keys }, { threshold, use: 'message', made: statement.created })
  if (late) return late
  examination.signers = selectCountingKeys(keys, statement.created)
  examination.statement = statement
  examination.digest = sha384(payload)
  return undefined
}

// Verifies the signed bytes first, then parses those same bytes.

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

const verificationFaults: Readonly<Record<Exclude<VerificationFailure, 'unknown_key'>, [QuarantineReason, string]>> = {
  bad_signature: ['BAD_SIG', 'a signature does not hold'],
  key_revoked: ['KEY_REVOKED', 'the key that signed it is revoked'],
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
  return signersFault(verified, trust.threshold, 'message')
}

/** The fault of the signers; `use`: of the required keys. */
export function signersFault(
  verified: VerifiedPayload | VerificationFailure,
  threshold: number,
  use: PublicKey['use'],
): MessageFault | undefined {
  if (verified === 'unknown_key') return fault('UNKNOWN_KEY', `no pinned ${use} key of the peer signed it`)
  if (typeof verified === 'string') return fault(...verificationFaults[verified])
  const distinct = new Set(verified.keys.map((key) => key.fingerprint)).size
  return distinct >= threshold ? undefined : fault('THRESHOLD', `${distinct} of ${threshold} keys signed it`)
}

export function statementCheck(examination: MessageExamination, { formats }: SenderTrust): MessageFault | undefined {
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
  const late = requireEstablished(examination, 'signers').some(
    (key) => key.not_after !== undefined && Date.parse(statement.created) > Date.parse(key.not_after),
  )
  if (late) return fault('UNKNOWN_KEY', 'a key signed it after its own end')
  examination.statement = statement
  examination.digest = sha384(payload)
  return undefined
}

// Who signed, and then what: the bytes are verified first, and those same bytes are parsed.
import { sha384 } from '../../../../daemon/kernel/canonical.ts'
import type { NotVerified, PublicKey, Verified } from '../../../../daemon/kernel/keys.ts'
import { readStatement } from '../../../../daemon/kernel/statement-format.ts'
import { parseName } from '../names.ts'
import { type Fault, fault, type Reason } from '../reasons.ts'
import type { Trust } from './checks.ts'
import { shapeFault } from './file-checks.ts'
import { known, type Specimen } from './specimen.ts'
import { strictJson } from './strict-json.ts'

const outcomes: Readonly<Record<Exclude<NotVerified, 'unknown_key'>, [Reason, string]>> = {
  bad_signature: ['BAD_SIG', 'a signature does not hold'],
  key_revoked: ['KEY_REVOKED', 'the key that signed it is revoked'],
}

export async function signatureCheck(specimen: Specimen, trust: Trust): Promise<Fault | undefined> {
  const keys = trust.pinned.filter((key) => key.use === 'message')
  const verified = await trust.signatures.verify('statement', known(specimen, 'jws'), keys)
  if (typeof verified !== 'string') {
    specimen.payload = Buffer.from(verified.payload)
    specimen.signers = verified.keys
  }
  return signersFault(verified, trust.threshold, 'message')
}

/** What is wrong with who signed; `use`: of the keys that were asked for. */
export function signersFault(
  verified: Verified | NotVerified,
  threshold: number,
  use: PublicKey['use'],
): Fault | undefined {
  if (verified === 'unknown_key') return fault('UNKNOWN_KEY', `no pinned ${use} key of the peer signed it`)
  if (typeof verified === 'string') return fault(...outcomes[verified])
  const distinct = new Set(verified.keys.map((key) => key.fingerprint)).size
  return distinct >= threshold ? undefined : fault('THRESHOLD', `${distinct} of ${threshold} keys signed it`)
}

export function statementCheck(specimen: Specimen, { formats }: Trust): Fault | undefined {
  const payload = known(specimen, 'payload')
  const read = strictJson(payload)
  if (read.outcome === 'incomplete') return fault('BAD_JSON', 'the statement does not end')
  if (read.outcome !== 'value') return fault(read.outcome, `the statement: ${read.detail}`)
  const reading = readStatement(read.value, formats)
  if (reading.read === 'unknown_version')
    return fault('TYPE', 'a version of the statement that this site does not read')
  if (reading.read === 'fault') {
    const isType = reading.error.issues.some(({ path }) => ['type', 'kind'].includes(String(path[0])))
    if (isType) return fault('TYPE', 'no message of a kind that this site knows')
    return shapeFault('the statement', reading.error, 'SCHEMA')
  }
  const { statement } = reading
  const name = parseName(specimen.name)
  if (name?.epoch !== statement.epoch || name.seq !== statement.seq) {
    return fault('NAME', 'the file is not named after its statement')
  }
  const late = known(specimen, 'signers').some(
    (key) => key.not_after !== undefined && Date.parse(statement.created) > Date.parse(key.not_after),
  )
  if (late) return fault('UNKNOWN_KEY', 'a key signed it after its own end')
  specimen.statement = statement
  specimen.digest = sha384(payload)
  return undefined
}

// Who signed, and then what: the bytes are verified first, and those same bytes are parsed.
import { sha384 } from '../../../daemon/kernel/canonical.ts'
import type { NotVerified } from '../../../daemon/kernel/keys.ts'
import type { Trust } from './checks.ts'
import { shapeFault } from './file-checks.ts'
import { parseName } from './names.ts'
import { type Fault, fault, type Reason } from './reasons.ts'
import { known, type Specimen, unlabelledStatement } from './specimen.ts'
import { strictJson } from './strict-json.ts'

const outcomes: Readonly<Record<NotVerified, [Reason, string]>> = {
  bad_signature: ['BAD_SIG', 'a signature does not hold'],
  unknown_key: ['UNKNOWN_KEY', 'no pinned message key of the peer signed it'],
  key_revoked: ['KEY_REVOKED', 'the key that signed it is revoked'],
}

export async function signatureCheck(specimen: Specimen, trust: Trust): Promise<Fault | undefined> {
  const keys = trust.pinned.filter((key) => key.use === 'message')
  const verified = await trust.signatures.verify('statement', known(specimen, 'jws'), keys)
  if (typeof verified === 'string') return fault(...outcomes[verified])
  specimen.payload = Buffer.from(verified.payload)
  specimen.signers = verified.keys
  const distinct = new Set(verified.keys.map((key) => key.fingerprint)).size
  if (distinct >= trust.threshold) return undefined
  return fault('THRESHOLD', `${distinct} of ${trust.threshold} keys signed it`)
}

export function statementCheck(specimen: Specimen): Fault | undefined {
  const payload = known(specimen, 'payload')
  const read = strictJson(payload)
  if (read.outcome === 'incomplete') return fault('BAD_JSON', 'the statement does not end')
  if (read.outcome !== 'value') return fault(read.outcome, `the statement: ${read.detail}`)
  const parsed = unlabelledStatement.safeParse(read.value)
  if (!parsed.success) {
    const isType = parsed.error.issues.some(({ path }) => ['v', 'type', 'kind'].includes(String(path[0])))
    if (isType) return fault('TYPE', 'no message of a version and kind that this site knows')
    return shapeFault('the statement', parsed.error, 'SCHEMA')
  }
  const name = parseName(specimen.name)
  if (name?.epoch !== parsed.data.epoch || name.seq !== parsed.data.seq) {
    return fault('NAME', 'the file is not named after its statement')
  }
  const late = known(specimen, 'signers').some(
    (key) => key.not_after !== undefined && Date.parse(parsed.data.created) > Date.parse(key.not_after),
  )
  if (late) return fault('UNKNOWN_KEY', 'a key signed it after its own end')
  specimen.statement = parsed.data
  specimen.digest = sha384(payload)
  return undefined
}

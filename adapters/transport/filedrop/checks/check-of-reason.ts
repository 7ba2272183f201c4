// Names the check that gave an item of the quarantine its reason, and the checks that it had passed by then.
import type { QuarantineReason } from '../quarantine-reasons.ts'
import { messageChecks } from './message-checks.ts'

export type CheckResults = { readonly passed: readonly string[]; readonly failed: string }

/** The first check that gives a reason: of a reason that several give, less is claimed to have passed. */
const checkByReason: Readonly<Partial<Record<QuarantineReason, string>>> = {
  NAME: 'name',
  TRUNCATED: 'kind',
  NOT_REGULAR: 'kind',
  HARDLINK: 'kind',
  TOO_LARGE: 'size',
  BAD_JSON: 'json',
  DUP_KEY: 'json',
  UNKNOWN_FIELD: 'json',
  BAD_SIG: 'signature',
  UNKNOWN_KEY: 'signature',
  KEY_REVOKED: 'signature',
  THRESHOLD: 'signature',
  TYPE: 'statement',
  WRONG_DST: 'destination',
  WRONG_CHANNEL: 'channel',
  FUTURE: 'freshness',
  EXPIRED: 'freshness',
  EQUIVOCATION: 'sequence',
  FAST_FORWARD: 'sequence',
  CHAIN_BREAK: 'sequence',
  BODY_DIGEST: 'digest',
  LABEL_MISSING: 'label',
  LABEL_DENIED: 'label',
  SCHEMA: 'schema',
}

/** Codes of messages that this site refuses without a command. */
const decisionByCode: Readonly<Record<string, string>> = {
  discarded: 'an operator discarded it',
  skipped: 'an operator gave its number up',
}

/** `code`: the problem code of a refused message. Undefined for an item without a known reason. */
export function checksOfReason(reason: string, code: string | undefined): CheckResults | undefined {
  const failed = checkByReason[reason as QuarantineReason]
  if (failed !== undefined) return { passed: namesBefore(failed), failed }
  if (reason === 'QUOTA') return { passed: namesBefore('sequence'), failed: 'the limit of held messages' }
  if (reason === 'POISON') return { passed: [], failed: 'three attempts to process it' }
  if (reason === 'SCANNER') return { passed: namesBefore(undefined), failed: 'scanner' }
  if (reason !== 'REFUSED') return undefined
  if (code === 'purged') return { passed: [], failed: 'an order to purge its body' }
  return { passed: namesBefore(undefined), failed: decisionByCode[code ?? ''] ?? 'the operation of its kind' }
}

/** All for undefined. */
function namesBefore(check: string | undefined): string[] {
  const names = messageChecks.map(({ name }) => name)
  return check === undefined ? names : names.slice(0, names.indexOf(check))
}

// One fingerprint for all public keys of a site or a person, as digits that people read to each other by telephone.
import { canonicalJson, sha256 } from '../encoding/canonical-json.ts'
import type { PublicKey } from './signatures.ts'

/** The holder of the keys and what is pinned of it: each member changes the fingerprint. */
export type SpokenKeys = {
  readonly owner:
    | {
        readonly type: 'site'
        readonly site: string
        readonly tenant_id: string
        /** Digest of the key set; absent for keys without one. */
        readonly key_set?: string
      }
    | { readonly type: 'person' }
  readonly keys: readonly PublicKey[]
}

const group_count = 8
const group_digits = 5

/**
 * Eight groups of six digits. Five digits of each are of the SHA-256, in all 40: 132 bits. The sixth is the check digit of
 * the group at its place, so that a wrong digit, two swapped digits and two swapped groups are found by themselves.
 */
export function speakFingerprint({ owner, keys }: SpokenKeys): readonly string[] {
  const listed = keys
    .map(({ kid, use, algorithm, fingerprint, status, created, not_after }) => ({
      ...{ kid, use, algorithm, fingerprint, status, created },
      ...(not_after === undefined ? {} : { not_after }),
    }))
    .sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))
  const content = { v: 1, type: 'platform.spoken-fingerprint', owner, keys: listed }
  const length = group_count * group_digits
  const digits = (BigInt(`0x${sha256(canonicalJson(content))}`) % 10n ** BigInt(length))
    .toString()
    .padStart(length, '0')
  return Array.from({ length: group_count }, (_, index) => {
    const group = digits.slice(index * group_digits, (index + 1) * group_digits)
    return `${group}${findCheckDigit(index, group)}`
  })
}

/**
 * The groups in what a person typed, with any separators. `fault`: what to read again; a wrong digit is found without
 * knowing the fingerprint.
 */
export function parseSpokenFingerprint(
  text: string,
): { readonly groups: readonly string[] } | { readonly fault: string } {
  const digits = text.replaceAll(/[\s.,-]/g, '')
  const size = group_digits + 1
  if (!/^\d+$/.test(digits) || digits.length !== group_count * size)
    return { fault: `it has ${group_count} groups of ${size} digits, and ${digits.length} digits were typed` }
  const groups = Array.from({ length: group_count }, (_, index) => digits.slice(index * size, (index + 1) * size))
  const wrong = groups.flatMap((group, index) =>
    findCheckDigit(index, group.slice(0, group_digits)) === group.slice(group_digits) ? [] : [index + 1],
  )
  if (wrong.length === 0) return { groups }
  return { fault: `group ${wrong.join(', ')} is mistyped: have it read again` }
}

/**
 * The quasigroup of H. M. Damm, "Total anti-symmetrische Quasigruppen" (Marburg 2004): finds each wrong digit and each swap of
 * neighbours.
 */
const damm = [
  ...['0317598642', '7092154863', '4206871359', '1750983426', '6123045978'],
  ...['3674209581', '5869720134', '8945362017', '9438617205', '2581436790'],
]

/** Begins with the place of the group, so that a group at another place does not hold. */
function findCheckDigit(index: number, group: string): string {
  let state = '0'
  for (const digit of `${index + 1}${group}`) state = damm[Number(state)]?.[Number(digit)] ?? ''
  return state
}

// Confirms keys without trust on first use: by the one fingerprint of all that the owner reads aloud, or key by key.
import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { confirmSpokenFingerprint, type SpokenConfirmation } from './confirm-spoken-fingerprint.ts'

export type KeyConfirmation = {
  /** Heading of the list, such as "bravo would be pinned with these keys". */
  readonly heading: string
  /** Sender of the fingerprints by another route than the file, such as "the other site". */
  readonly fingerprintSource: string
  /** At least one confirmed key must have this use. */
  readonly use: PublicKey['use']
  readonly foundKeys: readonly PublicKey[]
  /** Fingerprints of single keys that were compared already; if empty, all keys are confirmed by `spoken`. */
  readonly comparedFingerprints: readonly string[]
  readonly spoken: Pick<SpokenConfirmation, 'groups' | 'typed' | 'command'>
  /** The keys are a set: the keys of `use`, which must all be confirmed, vouch for the others. */
  readonly isWhole?: boolean
}

/** Returns the confirmed keys. Throws `CommandFailure` (3) if none is confirmed, or if the file contains other keys. */
export async function confirmKeys(terminal: Terminal, confirmation: KeyConfirmation): Promise<readonly PublicKey[]> {
  const { heading, fingerprintSource, foundKeys, comparedFingerprints, spoken } = confirmation
  if (comparedFingerprints.length > 0 && spoken.typed !== undefined)
    throw new CommandFailure(2, '--spoken confirms all keys, --fingerprint some: pass one of them')
  const remedy = `compare the fingerprints again with ${fingerprintSource}`
  terminal.note(`${heading}:`)
  for (const { kid, use, algorithm, fingerprint } of foundKeys) {
    terminal.note(`  ${use.padEnd(8)} ${algorithm.padEnd(9)} ${fingerprint}  ${kid}`)
  }
  if (comparedFingerprints.length === 0) {
    await confirmSpokenFingerprint(terminal, { ...spoken, source: fingerprintSource })
    return foundKeys
  }
  const named = foundKeys.find(({ kid }) => comparedFingerprints.includes(kid))
  if (named)
    throw new CommandFailure(
      2,
      `${named.kid} is a key id; --fingerprint wants the fingerprint, the last column of \`platform keys list\``,
      `the list above has it for comparison with ${fingerprintSource}`,
    )
  const unknownFingerprints = comparedFingerprints.filter(
    (fingerprint) => !foundKeys.some((key) => key.fingerprint === fingerprint),
  )
  if (unknownFingerprints.length > 0) {
    throw new CommandFailure(
      3,
      `the file does not contain the key ${unknownFingerprints.join(', ')}; nothing was changed`,
      remedy,
    )
  }
  const keys = foundKeys.filter((key) => comparedFingerprints.includes(key.fingerprint))
  if (confirmation.isWhole) return requireAllConfirmed(confirmation, keys, remedy)
  if (!keys.some((key) => key.use === confirmation.use)) {
    throw new CommandFailure(
      3,
      `none of the fingerprints belongs to a ${confirmation.use} key; nothing was changed`,
      remedy,
    )
  }
  for (const key of foundKeys) if (!keys.includes(key)) terminal.note(`skipped, not confirmed: ${key.kid}`)
  return keys
}

function requireAllConfirmed(
  { foundKeys, use }: KeyConfirmation,
  confirmed: readonly PublicKey[],
  remedy: string,
): readonly PublicKey[] {
  const unconfirmed = foundKeys.filter((key) => key.use === use && key.status === 'active' && !confirmed.includes(key))
  if (unconfirmed.length === 0) return foundKeys
  const kids = unconfirmed.map(({ kid }) => kid).join(', ')
  throw new CommandFailure(3, `every ${use} key must be confirmed, and ${kids} was not; nothing was changed`, remedy)
}

// Confirms keys without trust on first use: a person compares each fingerprint with the one that the owner sent.
import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type KeyConfirmation = {
  /** Heading of the list, such as "bravo would be pinned with these keys". */
  readonly heading: string
  /** Sender of the fingerprints by another route than the file, such as "the other site". */
  readonly fingerprintSource: string
  /** At least one confirmed key must have this use. */
  readonly use: PublicKey['use']
  readonly foundKeys: readonly PublicKey[]
  /** Fingerprints that were compared already; if empty, prompts for a confirmation. */
  readonly comparedFingerprints: readonly string[]
  /** The keys are a set: the keys of `use`, which must all be confirmed, vouch for the others. */
  readonly isWhole?: boolean
}

/** Returns the confirmed keys. Throws `CommandFailure` (3) if none is confirmed, or if the file contains other keys. */
export async function confirmKeys(terminal: Terminal, confirmation: KeyConfirmation): Promise<readonly PublicKey[]> {
  const { heading, fingerprintSource, foundKeys, comparedFingerprints } = confirmation
  const remedy = `compare the fingerprints again with ${fingerprintSource}`
  terminal.note(`${heading}:`)
  for (const { kid, use, algorithm, fingerprint } of foundKeys) {
    terminal.note(`  ${use.padEnd(8)} ${algorithm.padEnd(9)} ${fingerprint}  ${kid}`)
  }
  if (comparedFingerprints.length === 0) return await promptForConfirmation(terminal, confirmation, remedy)
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

async function promptForConfirmation(
  terminal: Terminal,
  { fingerprintSource, foundKeys }: KeyConfirmation,
  remedy: string,
): Promise<readonly PublicKey[]> {
  const reply = await terminal.prompt(`Do these match the fingerprints that ${fingerprintSource} gave you? [y/N] `)
  if (reply === undefined) {
    throw new CommandFailure(
      3,
      'the fingerprints must be confirmed',
      'name them with --fingerprint to confirm without a terminal',
    )
  }
  if (!/^y(es)?$/i.test(reply)) throw new CommandFailure(3, 'not confirmed; nothing was changed', remedy)
  return foundKeys
}

// No trust on first use: a key counts once a person has compared its fingerprint with what its owner told.
import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type KeyConfirmation = {
  /** What is done with the keys, as in "bravo would be pinned by". */
  readonly heading: string
  /** Who told the fingerprints by another way than the file, as in "the other site". */
  readonly fingerprintSource: string
  /** One key of this use at least must be among those confirmed. */
  readonly use: PublicKey['use']
  readonly found: readonly PublicKey[]
  /** Fingerprints that were compared already; none: a person is asked. */
  readonly comparedFingerprints: readonly string[]
  /** The keys come together: those of `use`, all of them confirmed, vouch for the others. */
  readonly isWhole?: boolean
}

/** The keys that a person vouches for. Throws `Failure` (3) when nobody does, or when the file holds other keys. */
export async function confirmKeys(terminal: Terminal, given: KeyConfirmation): Promise<readonly PublicKey[]> {
  const { heading, fingerprintSource, found, comparedFingerprints } = given
  const remedy = `compare the fingerprints again with ${fingerprintSource}`
  terminal.note(`${heading}:`)
  for (const { kid, use, algorithm, fingerprint } of found) {
    terminal.note(`  ${use.padEnd(8)} ${algorithm.padEnd(9)} ${fingerprint}  ${kid}`)
  }
  if (comparedFingerprints.length === 0) return await promptForConfirmation(terminal, given, remedy)
  const strange = comparedFingerprints.filter((fingerprint) => !found.some((key) => key.fingerprint === fingerprint))
  if (strange.length > 0) {
    throw new CommandFailure(3, `the file does not hold the key ${strange.join(', ')}; nothing was changed`, remedy)
  }
  const keys = found.filter((key) => comparedFingerprints.includes(key.fingerprint))
  if (given.isWhole) return requireAllConfirmed(given, keys, remedy)
  if (!keys.some((key) => key.use === given.use)) {
    throw new CommandFailure(3, `none of the fingerprints is that of a ${given.use} key; nothing was changed`, remedy)
  }
  for (const key of found) if (!keys.includes(key)) terminal.note(`left out, not confirmed: ${key.kid}`)
  return keys
}

function requireAllConfirmed(
  { found, use }: KeyConfirmation,
  named: readonly PublicKey[],
  remedy: string,
): readonly PublicKey[] {
  const missing = found.filter((key) => key.use === use && key.status === 'active' && !named.includes(key))
  if (missing.length === 0) return found
  const kids = missing.map(({ kid }) => kid).join(', ')
  throw new CommandFailure(3, `every ${use} key must be confirmed, and ${kids} was not; nothing was changed`, remedy)
}

async function promptForConfirmation(
  terminal: Terminal,
  { fingerprintSource, found }: KeyConfirmation,
  remedy: string,
): Promise<readonly PublicKey[]> {
  const answer = await terminal.ask(`Are these the fingerprints that ${fingerprintSource} told you? [y/N] `)
  if (answer === undefined) {
    throw new CommandFailure(
      3,
      'the fingerprints need a confirmation',
      'name them with --fingerprint to confirm without a terminal',
    )
  }
  if (!/^y(es)?$/i.test(answer)) throw new CommandFailure(3, 'not confirmed; nothing was changed', remedy)
  return found
}

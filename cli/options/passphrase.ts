// The passphrase that private keys lie under: from a file, or typed where nobody sees it; never an argument.

import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'
import { text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const passphraseOption = {
  passphraseFile: text(
    'FILE',
    'File with the passphrase of the private keys (default: that of the profile, then a prompt)',
  ),
}

type PassphraseInput = { readonly passphraseFile: string | undefined }
type PassphraseTarget = { readonly keys: string } | SiteFolder

/** Undefined when no key there, or none of this use, lies under one and none was named. Throws `Failure` (3) when it is needed and cannot be had. */
export async function resolvePassphrase(
  terminal: Terminal,
  given: PassphraseInput,
  place: PassphraseTarget,
  use?: PublicKey['use'],
): Promise<string | undefined> {
  const { readNamedPassphrase, readSitePassphrase } = await offline.passphrase()
  if (given.passphraseFile !== undefined) return readNamedPassphrase(given.passphraseFile)
  const { needsPassphrase } = await offline.keys()
  if (!needsPassphrase(place, use)) return undefined
  const profiled = 'profile' in place ? readSitePassphrase(place, terminal.env) : undefined
  return profiled ?? (await promptSecret(terminal, 'Passphrase of the keys: '))
}

/** That of one key in a file; undefined when it lies under none. Throws as `passphraseOf` does. */
export async function resolveKeyFilePassphrase(
  terminal: Terminal,
  given: PassphraseInput,
  file: string,
): Promise<string | undefined> {
  const { isKeyFileWrapped } = await offline.personalSignature()
  if (!isKeyFileWrapped(file)) return undefined
  const { readNamedPassphrase } = await offline.passphrase()
  if (given.passphraseFile !== undefined) return readNamedPassphrase(given.passphraseFile)
  return await promptSecret(terminal, 'Passphrase of your key: ')
}

/** One that is to be set: typed twice where it is typed. */
export async function readNewPassphrase(terminal: Terminal, given: PassphraseInput): Promise<string> {
  const { readNamedPassphrase, requirePassphraseLength } = await offline.passphrase()
  if (given.passphraseFile !== undefined) return readNamedPassphrase(given.passphraseFile)
  const first = await promptSecret(terminal, 'New passphrase: ')
  requirePassphraseLength(first)
  if ((await promptSecret(terminal, 'Once more: ')) !== first)
    throw new CommandFailure(2, 'the two were not the same; nothing was changed')
  return first
}

async function promptSecret(terminal: Terminal, question: string): Promise<string> {
  const answer = await terminal.askSecret(question)
  if (answer !== undefined) return answer
  throw new CommandFailure(3, 'the keys lie under a passphrase', 'name the file that holds it: --passphrase-file')
}

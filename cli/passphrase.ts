// The passphrase that private keys lie under: from a file, or typed where nobody sees it; never an argument.
import { offline, type SiteFolder } from '../daemon/boot/offline.ts'
import type { PublicKey } from '../daemon/kernel/keys.ts'
import { Failure } from './command.ts'
import { text } from './params.ts'
import type { Terminal } from './terminal.ts'

export const passphraseOption = {
  passphraseFile: text('FILE', 'holds the passphrase of the private keys; else the profile’s, else it is asked for'),
}

type Given = { readonly passphraseFile: string | undefined }
type Place = { readonly keys: string } | SiteFolder

/** Undefined when no key there, or none of this use, lies under one and none was named. Throws `Failure` (3) when it is needed and cannot be had. */
export async function passphraseOf(
  terminal: Terminal,
  given: Given,
  place: Place,
  use?: PublicKey['use'],
): Promise<string | undefined> {
  const { named, ofSite } = await offline.passphrase()
  if (given.passphraseFile !== undefined) return named(given.passphraseFile)
  const { isLocked } = await offline.keys()
  if (!isLocked(place, use)) return undefined
  const profiled = 'profile' in place ? ofSite(place, terminal.env) : undefined
  return profiled ?? (await asked(terminal, 'Passphrase of the keys: '))
}

/** That of one key in a file; undefined when it lies under none. Throws as `passphraseOf` does. */
export async function passphraseOfKey(terminal: Terminal, given: Given, file: string): Promise<string | undefined> {
  const { isLocked } = await offline.personalSignature()
  if (!isLocked(file)) return undefined
  const { named } = await offline.passphrase()
  if (given.passphraseFile !== undefined) return named(given.passphraseFile)
  return await asked(terminal, 'Passphrase of your key: ')
}

/** One that is to be set: typed twice where it is typed. */
export async function newPassphrase(terminal: Terminal, given: Given): Promise<string> {
  const { named, requireLong } = await offline.passphrase()
  if (given.passphraseFile !== undefined) return named(given.passphraseFile)
  const first = await asked(terminal, 'New passphrase: ')
  requireLong(first)
  if ((await asked(terminal, 'Once more: ')) !== first)
    throw new Failure(2, 'the two were not the same; nothing was changed')
  return first
}

async function asked(terminal: Terminal, question: string): Promise<string> {
  const answer = await terminal.askSecret(question)
  if (answer !== undefined) return answer
  throw new Failure(3, 'the keys lie under a passphrase', 'name the file that holds it: --passphrase-file')
}

// The passphrase of encrypted private keys: read from a file or a hidden prompt, never from an argument.

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

/**
 * The passphrase of the keys (of this use). Undefined if none of them is encrypted and no file was named. Throws
 * `CommandFailure` (3) if a passphrase is needed and not available.
 */
export async function resolvePassphrase(
  terminal: Terminal,
  params: PassphraseInput,
  keyStore: PassphraseTarget,
  use?: PublicKey['use'],
): Promise<string | undefined> {
  const { readNamedPassphrase, readSitePassphrase } = await offline.passphrase()
  if (params.passphraseFile !== undefined) return readNamedPassphrase(params.passphraseFile)
  const { needsPassphrase } = await offline.keys()
  if (!needsPassphrase(keyStore, use)) return undefined
  const profilePassphrase = 'profile' in keyStore ? readSitePassphrase(keyStore, terminal.env) : undefined
  return profilePassphrase ?? (await promptSecret(terminal, 'Passphrase of the keys: '))
}

/** The passphrase of one key in a file; undefined if the key is not encrypted. Throws as `resolvePassphrase` does. */
export async function resolveKeyFilePassphrase(
  terminal: Terminal,
  params: PassphraseInput,
  file: string,
): Promise<string | undefined> {
  const { isKeyFileWrapped } = await offline.personalSignature()
  if (!isKeyFileWrapped(file)) return undefined
  const { readNamedPassphrase } = await offline.passphrase()
  if (params.passphraseFile !== undefined) return readNamedPassphrase(params.passphraseFile)
  return await promptSecret(terminal, 'Passphrase of your key: ')
}

/** The passphrase that opens something that is always encrypted. */
export async function readPassphrase(terminal: Terminal, params: PassphraseInput, question: string): Promise<string> {
  const { readNamedPassphrase } = await offline.passphrase()
  if (params.passphraseFile !== undefined) return readNamedPassphrase(params.passphraseFile)
  return await promptSecret(terminal, question)
}

/** Reads a new passphrase; a prompt asks for it twice. */
export async function readNewPassphrase(terminal: Terminal, params: PassphraseInput): Promise<string> {
  const { readNamedPassphrase, requirePassphraseLength } = await offline.passphrase()
  if (params.passphraseFile !== undefined) return readNamedPassphrase(params.passphraseFile)
  const first = await promptSecret(terminal, 'New passphrase: ')
  requirePassphraseLength(first)
  if ((await promptSecret(terminal, 'Repeat the passphrase: ')) !== first)
    throw new CommandFailure(2, 'the two passphrases differ; nothing was changed')
  return first
}

async function promptSecret(terminal: Terminal, question: string): Promise<string> {
  const reply = await terminal.promptSecret(question)
  if (reply !== undefined) return reply
  throw new CommandFailure(
    3,
    'the keys are encrypted with a passphrase',
    'name the file that contains it: --passphrase-file FILE',
  )
}

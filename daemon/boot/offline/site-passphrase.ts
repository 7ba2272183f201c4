// The passphrase of the site's keys for commands: from a file that a person named, or from the one of the profile.
import { shortest_passphrase } from '../../../adapters/keys/jose/wrapped-key.ts'
import { asInvoker } from '../acting.ts'
import { readPassphrase } from '../passphrase.ts'
import type { SiteFolder } from '../site-folder.ts'
import { Objection } from './objection.ts'
import { type Environment, siteSettings } from './site-profile.ts'

/** Throws `Objection` (3) for a file that cannot be it. */
export function named(file: string): string {
  return asInvoker(() => readOrObject(file))
}

/** That of the profile; undefined when it names no file. Throws as `named` does. */
export function ofSite(folder: SiteFolder, env: Environment): string | undefined {
  const { keys_passphrase_file } = siteSettings(folder, env).identity
  return keys_passphrase_file === undefined ? undefined : readOrObject(keys_passphrase_file)
}

function readOrObject(file: string): string {
  try {
    return readPassphrase(file)
  } catch (error) {
    throw new Objection(3, error instanceof Error ? error.message : String(error))
  }
}

/** Throws `Objection` (2) for one that could be guessed. */
export function requireLong(passphrase: string): void {
  if (passphrase.length >= shortest_passphrase) return
  throw new Objection(2, `a passphrase has at least ${shortest_passphrase} characters`)
}

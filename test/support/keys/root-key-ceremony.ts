// Root keys on media of their own, and the commands by which a site lives with them: as the operator guide has it.
import path from 'node:path'
import type { KeyAlgorithm } from '../../../daemon/kernel/cryptography/signatures.ts'
import type { CommandResult, Json } from '../command/run-command.ts'
import { runCommand, runJsonCommand } from '../command/run-command.ts'

export type RootKeyMedium = {
  readonly dir: string
  readonly file: string
  readonly kid: string
  readonly fingerprint: string
}

/** A new root key in a folder that belongs to no site, and the file with its public half. */
export async function createRootKeyMedium(dir: string, name: string, algorithm: KeyAlgorithm): Promise<RootKeyMedium> {
  const folder = path.join(dir, name)
  const file = path.join(dir, `${name}.json`)
  const words = ['keys', 'generate', '--use', 'root', '--algorithm', algorithm, '--dir', folder]
  const { kid, fingerprint } = await runJsonCommand(words)
  await runJsonCommand(['keys', 'export', '--dir', folder, '--out', file])
  return { dir: folder, file, kid, fingerprint }
}

export function siteCommands(dir: string) {
  const at = ['--site', dir]
  const keys = async (use: string): Promise<Json[]> => {
    const { items } = await runJsonCommand(['keys', 'list', ...at])
    return items.filter((key: Json) => key.use === use && key.status === 'active')
  }
  return {
    dir,
    platform: (words: readonly string[]): Promise<CommandResult> => runCommand([...words, ...at]),
    answered: (words: readonly string[]): Promise<Json> => runJsonCommand([...words, ...at]),
    /** Active ones of this use, oldest first. */
    keys,
    /** Drafts, has it signed on each medium, and puts it in force. */
    async renew(file: string, media: readonly RootKeyMedium[], words: readonly string[] = []): Promise<Json> {
      await runJsonCommand(['keys', 'set', 'draft', '--out', file, ...words, ...at])
      for (const medium of media) await signOnMedium(medium, file)
      return await runJsonCommand(['keys', 'set', 'publish', file, '--yes', ...at])
    },
  }
}
export type SiteCommands = ReturnType<typeof siteCommands>

export async function signOnMedium({ dir }: RootKeyMedium, file: string, ...more: string[]): Promise<Json> {
  return await runJsonCommand(['keys', 'set', 'sign', file, '--dir', dir, '--yes', ...more])
}

/** A site whose root keys lie on these media, in force from its first key set on. */
export async function createRootedSite(
  dir: string,
  name: string,
  media: readonly RootKeyMedium[],
): Promise<SiteCommands> {
  const site = siteCommands(path.join(dir, name))
  await site.answered(['init', '--name', name, '--tenant', name, '--profile', 'demo'])
  const [own] = await site.keys('root')
  const roots = media.map(({ file }) => file).join(',')
  const words = ['--roots', roots, '--root-threshold', String(media.length), '--retire', own.kid]
  await site.renew(path.join(dir, `${name}-keyset-1.json`), media, words)
  return site
}

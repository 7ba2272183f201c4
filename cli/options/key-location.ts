// The location of the keys that a command uses: those of a site, or those in a folder outside of sites.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { SiteFolder } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'
import { text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { requireSite } from './site-options.ts'

export const dirOption = {
  dir: text('DIR', 'Folder of keys of a person or an offline machine, instead of a site’s'),
}

type KeyLocationInput = { readonly dir: string | undefined; readonly site: string | undefined }

/** Throws `CommandFailure`: 2 if both options are given, 1 for a missing folder that must exist, 3 without a site. */
export function resolveKeyLocation(
  params: KeyLocationInput,
  terminal: Terminal,
  folder: 'existing' | 'may_create' = 'existing',
): { readonly dir: string } | { readonly site: SiteFolder } {
  if (params.dir === undefined) return { site: requireSite(params, terminal) }
  if (params.site !== undefined) throw new CommandFailure(2, '--dir and --site cannot be combined: pass one of them')
  const dir = resolve(params.dir)
  if (folder === 'existing' && !existsSync(dir)) throw new CommandFailure(1, `the folder ${dir} does not exist`)
  return { dir }
}

/** The folder of existing keys. Throws as `resolveKeyLocation` does. */
export function requireKeyLocation(params: KeyLocationInput, terminal: Terminal): { readonly keys: string } {
  const location = resolveKeyLocation(params, terminal)
  return 'dir' in location ? { keys: location.dir } : location.site
}

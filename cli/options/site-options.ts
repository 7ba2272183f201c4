// The options of a command that uses a site, and the lookup of that site.
import { existsSync } from 'node:fs'
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'
import { flag, text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const siteOption = {
  site: text('DIR', 'Site folder (default: PLATFORM_SITE, ./site, /etc/platform)'),
}

export const jsonOption = { json: flag('Print JSON, for scripts') }

export const roleOption = { role: text('ROLE', 'Only the database of this role') }

/**
 * The folder of an existing site; root acts as its owner from then on, and what a role wrote is read in processes of its
 * user (`RoleTask`). Throws `CommandFailure` (3) if there is none.
 */
export function requireSite(params: { readonly site: string | undefined }, terminal: Terminal): SiteFolder {
  const folder = locateSite(params, terminal)
  offline.actAsOwnerOf(folder.profile)
  return folder
}

/** The same, for commands that also work without a site; undefined if none is named and none is found. */
export function findOptionalSite(
  params: { readonly site: string | undefined },
  terminal: Terminal,
): SiteFolder | undefined {
  return offline.findSite(params.site, terminal.env) ? requireSite(params, terminal) : undefined
}

/** The same, for commands that touch files of the site's owner alone: root becomes that user for good. */
export function requireOwnSite(params: { readonly site: string | undefined }, terminal: Terminal): SiteFolder {
  const folder = locateSite(params, terminal)
  offline.becomeOwnerOf(folder.profile)
  return folder
}

/**
 * The same, for commands that touch files of several roles: root becomes the owner of the site for good where that user owns
 * the data of every role. It keeps a way back where the site is divided between users, or where one of `namedFiles` must
 * be read later with the rights of the person who named it.
 */
export async function requireWholeSite(
  params: { readonly site: string | undefined },
  terminal: Terminal,
  namedFiles: readonly (string | undefined)[] = [],
): Promise<SiteFolder> {
  const { hasOneOwner } = await offline.siteOwners()
  const isFinal = namedFiles.every((file) => file === undefined) && hasOneOwner(locateSite(params, terminal))
  return isFinal ? requireOwnSite(params, terminal) : requireSite(params, terminal)
}

/** Throws `CommandFailure` (3). */
function locateSite(params: { readonly site: string | undefined }, terminal: Terminal): SiteFolder {
  const folder = offline.findSite(params.site, terminal.env)
  const remedy = '`platform init --site DIR` creates a site; --site DIR or PLATFORM_SITE selects one'
  if (!folder) throw new CommandFailure(3, 'no site was found', remedy)
  if (!existsSync(folder.profile))
    throw new CommandFailure(3, `no site was found: ${folder.profile} does not exist`, remedy)
  return folder
}

// Where everything of a site lies on disk; the only place that knows these names.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

export type SiteFolder = {
  readonly profile: string
  /** Private keys, one file each (0700). */
  readonly keys: string
  /** Revoked tokens (0700). */
  readonly identity: string
  readonly peers: string
  /** SQLite files (0700). */
  readonly data: string
  readonly filedrop: string
  /** Lock and sockets of running processes (0700). */
  readonly run: string
}

/** All in one folder: what `platform init` makes and what a courier can carry. */
export function siteFolder(dir: string): SiteFolder {
  return placed(join(dir, 'profile.yaml'), dir)
}

/** `--site`, else PLATFORM_SITE, else ./site, else /etc/platform with /var/lib/platform. Undefined when there is none. */
export function findSite(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): SiteFolder | undefined {
  const named = flag ?? env.PLATFORM_SITE
  if (named) return siteFolder(resolve(named))
  if (existsSync(resolve('site', 'profile.yaml'))) return siteFolder(resolve('site'))
  if (existsSync('/etc/platform/profile.yaml')) return placed('/etc/platform/profile.yaml', '/var/lib/platform')
  return undefined
}

/** The local socket of a role. */
export function socketOf(folder: SiteFolder, role: string): string {
  return join(folder.run, `${role}.sock`)
}

export function databaseOf(folder: SiteFolder, role: string): string {
  return join(folder.data, `${role}.db`)
}

function placed(profile: string, base: string): SiteFolder {
  const at = (name: string) => join(base, name)
  return {
    profile,
    keys: at('keys'),
    identity: at('identity'),
    peers: at('peers'),
    data: at('data'),
    filedrop: at('filedrop'),
    run: at('run'),
  }
}

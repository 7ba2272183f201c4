// Where everything of a site lies on disk; the only place that knows these names.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

export type SiteFolder = {
  readonly profile: string
  /** Private keys, one file each (0700). */
  readonly keys: string
  /** Public keys by which every process verifies tokens, and the private key of each role (0700). */
  readonly identity: string
  readonly peers: string
  /** SQLite files, in a folder for each role (0700). */
  readonly data: string
  readonly filedrop: string
  /** Locks and sockets of running processes, in a folder for each role (0700). */
  readonly run: string
}

/** All in one folder: what `platform init` makes and what a courier can carry. */
export function siteFolder(dir: string): SiteFolder {
  return buildSiteFolder(join(dir, 'profile.yaml'), dir)
}

/**
 * `--site`, else PLATFORM_SITE, else ./site, else /etc/platform with /var/lib/platform. Undefined when there is none.
 */
export function findSite(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): SiteFolder | undefined {
  const named = flag ?? env.PLATFORM_SITE
  if (named) return siteFolder(resolve(named))
  if (existsSync(resolve('site', 'profile.yaml'))) return siteFolder(resolve('site'))
  if (existsSync('/etc/platform/profile.yaml'))
    return buildSiteFolder('/etc/platform/profile.yaml', '/var/lib/platform')
  return undefined
}

/** Folders of one role alone: in a divided site they belong to its user (docs/decisions/0017-unix-user-per-role.md). */
export function roleDataFolder(folder: SiteFolder, role: string): string {
  return join(folder.data, role)
}

export function roleRunFolder(folder: SiteFolder, role: string): string {
  return join(folder.run, role)
}

/** The key with which the role says to the site's other processes who it is. */
export function roleKeysFolder(folder: SiteFolder, role: string): string {
  return join(folder.identity, 'roles', role)
}

/** Certificates of the authorities whose keys lie in a folder of keys. */
export function certificatesFolder({ keys }: Pick<SiteFolder, 'keys'>): string {
  return join(keys, 'certificates')
}

/** The certificate that this site shows its peers, and its private key: one file, so that both change at once. */
export function siteCertificateFile(folder: Pick<SiteFolder, 'keys'>): string {
  return join(certificatesFolder(folder), 'site.pem')
}

export function roleDatabaseFile(folder: SiteFolder, role: string): string {
  return join(roleDataFolder(folder, role), `${role}.db`)
}

/** The local socket of a role. The kernel takes no path longer than 107 bytes. */
export function roleSocketFile(folder: SiteFolder, role: string): string {
  return join(roleRunFolder(folder, role), 'sock')
}

export function roleLockFile(folder: SiteFolder, role: string): string {
  return join(roleRunFolder(folder, role), 'lock')
}

/** The public keys that tokens are judged by. */
export function tokenKeysFile(folder: SiteFolder): string {
  return join(folder.identity, 'token-keys.json')
}

/** Held while the list of token keys is changed. */
export function identityLockFile(folder: SiteFolder): string {
  return join(folder.identity, 'lock')
}

export function revocationsFile(folder: SiteFolder): string {
  return join(folder.identity, 'revoked.jsonl')
}

/** Enrolled people, one file each; the site role alone reads them. */
export function peopleFolder(folder: SiteFolder): string {
  return join(folder.identity, 'people')
}

function buildSiteFolder(profile: string, base: string): SiteFolder {
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

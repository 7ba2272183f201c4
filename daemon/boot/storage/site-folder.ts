// Paths of a site's files; only this module knows their names.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

export type SiteFolder = {
  readonly profile: string
  /** Private keys, one file each (0700). */
  readonly keys: string
  /** Lists that verify tokens, and the private key of each role (0700). */
  readonly identity: string
  readonly peers: string
  /** SQLite files, in a folder for each role (0700). */
  readonly data: string
  readonly filedrop: string
  /** Locks and sockets of running processes, in a folder for each role (0700). */
  readonly run: string
}

/** A site in one folder, as `platform init` creates it. */
export function siteFolder(dir: string): SiteFolder {
  return buildSiteFolder(join(dir, 'profile.yaml'), dir)
}

/** `--site`, else PLATFORM_SITE, else ./site, else /etc/platform with /var/lib/platform; undefined if none exists. */
export function findSite(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): SiteFolder | undefined {
  const selected = flag ?? env.PLATFORM_SITE
  if (selected) return siteFolder(resolve(selected))
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

/** Folder of the key with which the role authenticates to the site's other processes. */
export function roleKeysFolder(folder: SiteFolder, role: string): string {
  return join(folder.identity, 'roles', role)
}

/** Certificate with which the role authenticates to other machines, with its private key: one file, for its user alone. */
export function roleCertificateFile(folder: SiteFolder, role: string): string {
  return join(certificatesFolder({ keys: roleKeysFolder(folder, role) }), 'role.pem')
}

/** Certificates of the authorities that sign the certificates of roles; every role reads them. */
export function roleAuthoritiesFile(folder: SiteFolder): string {
  return join(folder.identity, 'role-authorities.pem')
}

/** Certificates of the authorities in a key folder. */
export function certificatesFolder({ keys }: Pick<SiteFolder, 'keys'>): string {
  return join(keys, 'certificates')
}

/** Certificate that this site presents to its peers, with its private key: one file, so that both change at once. */
export function siteCertificateFile(folder: Pick<SiteFolder, 'keys'>): string {
  return join(certificatesFolder(folder), 'site.pem')
}

export function roleDatabaseFile(folder: SiteFolder, role: string): string {
  return join(roleDataFolder(folder, role), `${role}.db`)
}

/** Exists while the databases of roles are exchanged for those of a backup. */
export function exchangeRecordFile(folder: SiteFolder): string {
  return join(folder.data, 'exchange.json')
}

/** Local socket of a role. The kernel accepts paths of at most 107 bytes. */
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

/** Lock held while the list of token keys changes. */
export function identityLockFile(folder: SiteFolder): string {
  return join(folder.identity, 'lock')
}

export function revocationsFile(folder: SiteFolder): string {
  return join(folder.identity, 'revoked.jsonl')
}

/** Enrolled people, one file each; only the site role reads them. */
export function peopleFolder(folder: SiteFolder): string {
  return join(folder.identity, 'people')
}

function buildSiteFolder(profile: string, base: string): SiteFolder {
  const resolvePath = (name: string) => join(base, name)
  return {
    profile,
    keys: resolvePath('keys'),
    identity: resolvePath('identity'),
    peers: resolvePath('peers'),
    data: resolvePath('data'),
    filedrop: resolvePath('filedrop'),
    run: resolvePath('run'),
  }
}

// Where everything of a site lies on disk; the only place that knows these names.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

export type SiteFolder = {
  readonly profile: string
  /** Private keys, one file each (0700). */
  readonly keys: string
  /** What every process judges tokens by, and the private key of each role (0700). */
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

/** Folders of one role alone: in a divided site they belong to its user (docs/decisions/0017-a-user-for-each-role.md). */
export function dataOf(folder: SiteFolder, role: string): string {
  return join(folder.data, role)
}

export function runOf(folder: SiteFolder, role: string): string {
  return join(folder.run, role)
}

/** The key with which the role says to the site's other processes who it is. */
export function roleKeysOf(folder: SiteFolder, role: string): string {
  return join(folder.identity, 'roles', role)
}

/** Certificates of the authorities whose keys lie in a folder of keys. */
export function certificatesOf({ keys }: Pick<SiteFolder, 'keys'>): string {
  return join(keys, 'certificates')
}

/** The certificate that this site shows its peers, and its private key: one file, so that both change at once. */
export function siteCertificateOf(folder: Pick<SiteFolder, 'keys'>): string {
  return join(certificatesOf(folder), 'site.pem')
}

export function databaseOf(folder: SiteFolder, role: string): string {
  return join(dataOf(folder, role), `${role}.db`)
}

/** The local socket of a role. The kernel takes no path longer than 107 bytes. */
export function socketOf(folder: SiteFolder, role: string): string {
  return join(runOf(folder, role), 'sock')
}

export function lockOf(folder: SiteFolder, role: string): string {
  return join(runOf(folder, role), 'lock')
}

/** Held while messages for the peer are in hand to be taken there. */
export function carryingLockOf(folder: SiteFolder, peer: string): string {
  return join(runOf(folder, 'site'), `carrying.${peer}`)
}

/** The public keys that tokens are judged by. */
export function tokenKeysOf(folder: SiteFolder): string {
  return join(folder.identity, 'token-keys.json')
}

/** Held while the list of token keys is changed. */
export function identityLockOf(folder: SiteFolder): string {
  return join(folder.identity, 'lock')
}

export function revocationsOf(folder: SiteFolder): string {
  return join(folder.identity, 'revoked.jsonl')
}

/** Enrolled people, one file each; the site role alone reads them. */
export function peopleOf(folder: SiteFolder): string {
  return join(folder.identity, 'people')
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

// Checks that the site can sign and verify tokens, today and in a month.
import { existsSync } from 'node:fs'
import { fileRevocations } from '../../../../adapters/identity/offline/revocations.ts'
import { hasWrappedKeys, listKeys } from '../../../../adapters/keys/jose/key-lifecycle.ts'
import { readTokenKeys, type TokenKey } from '../../../../adapters/keys/jose/token-keys.ts'
import { findLockedKeyFault } from '../../../boot/identity/locked-keys.ts'
import { roleSubject } from '../../../boot/identity/token-key-list.ts'
import { revocationsFile, type SiteFolder, tokenKeysFile } from '../../../boot/storage/site-folder.ts'
import { type PublicKey, publicKey } from '../../../kernel/cryptography/signatures.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import type { RoleOutline } from '../../../kernel/role/role.ts'
import { readCurrentKeySet } from '../../keys/site-key-sets.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { listProfileRoles, readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportExpiry, reportOk, reportProblem } from '../finding.ts'

const requiredUses: readonly PublicKey['use'][] = ['message', 'token']
const keyUses = publicKey.shape.use.options

export async function checkKeys({ folder, now }: DoctorContext): Promise<DoctorFinding[]> {
  const { set } = readCurrentKeySet(folder)
  const siteKeys = listKeys(folder.keys)
  // Root keys that are stored elsewhere are known from the key set that names them.
  const roots = (set?.keys ?? []).filter(({ use, kid }) => use === 'root' && !siteKeys.some((key) => key.kid === kid))
  const active = [...siteKeys, ...roots].filter(({ status }) => status === 'active')
  const missingKeys = requiredUses
    .filter((use) => !active.some((key) => key.use === use))
    .map((use) => reportProblem('keys.none_active', `no ${use} key is active`, `platform keys generate --use ${use}`))
  const expiries = keyUses.flatMap((use) => {
    const required = use === 'message' || use === 'root' ? (set?.thresholds[use] ?? 1) : 1
    const isInSite = ({ kid }: PublicKey) => siteKeys.some((key) => key.kid === kid)
    return reportExpiringKeys(
      active,
      use,
      required,
      now,
      ({ kid }) => `the key ${kid}`,
      (key) => describeRenewal(key, isInSite(key)),
    )
  })
  const peerFindings = (await listPeers(folder)).flatMap((peer) => checkPeerKeys(peer, now))
  const findings = [...missingKeys, ...expiries, ...peerFindings]
  return findings.length > 0 ? findings : [reportOk('keys', `${active.length} active, none near its expiry`)]
}

function describeRenewal({ kid, use }: PublicKey, isInSite: boolean): string {
  if (!isInSite)
    return `a new root key on a medium, then platform keys set draft --roots FILE --retire ${kid} --out FILE`
  if (use === 'authority')
    return 'platform keys ca init --replace; the peers must pin the new authority beside the old one'
  if (use === 'token' || use === 'personal') return `platform keys rotate ${kid}`
  return `platform keys rotate ${kid}; the peers must receive the new key set`
}

/**
 * Returns the active keys of one use that expire soon, unless the required number of others stays active: then they
 * were replaced in time.
 */
function reportExpiringKeys(
  active: readonly PublicKey[],
  use: PublicKey['use'],
  required: number,
  now: number,
  describeKey: (key: PublicKey) => string,
  remedy: (key: PublicKey) => string,
): DoctorFinding[] {
  const candidates = active
    .filter((key) => key.use === use)
    .map((key) => ({ key, end: key.not_after === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.not_after) }))
  const expiries = candidates.map(({ key, end }) =>
    end === Number.POSITIVE_INFINITY
      ? undefined
      : reportExpiry('keys.expiring', describeKey(key), end, now, remedy(key)),
  )
  const lasting_count = expiries.filter((expiry) => expiry === undefined).length
  return lasting_count >= required ? [] : expiries.flatMap((expiry) => expiry ?? [])
}

/** Checks, as at a start, whether the running roles can sign. */
export async function checkPassphrase({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { keys_passphrase_file: file } = readSiteSettings(folder, env).identity
  const lockFault = await findLockedKeyFault(folder, file)
  if (lockFault === undefined)
    return hasWrappedKeys(folder.keys) ? [reportOk('keys', 'the passphrase decrypts the keys')] : []
  return [
    reportProblem(
      'keys.locked',
      lockFault,
      'put the passphrase into a file of mode 600, and name it in identity.keys_passphrase_file',
    ),
  ]
}

function checkPeerKeys({ name, keys, threshold, root_threshold = 1 }: Peer, now: number): DoctorFinding[] {
  const remedy = `get ${name}’s new keys: platform peers update ${name} --keys FILE; if its root keys are not pinned, remove the peer and add it again`
  const active = keys.filter(({ status }) => status === 'active')
  if (!active.some(({ use }) => use === 'message')) {
    return [reportProblem('keys.peer_without_key', `${name} has no active message key here`, remedy)]
  }
  const describeKey = ({ kid }: PublicKey) => `${name}’s key ${kid}`
  return [
    ...reportExpiringKeys(active, 'message', threshold, now, describeKey, () => remedy),
    ...reportExpiringKeys(active, 'root', root_threshold, now, describeKey, () => remedy),
  ]
}

/**
 * Checks the two lists that verify tokens. Without the key list no token is valid; without the revocation list no
 * revoked token is refused.
 */
export function checkTokenLists({ folder, env }: DoctorContext): DoctorFinding[] {
  return [...checkRevokedTokens(revocationsFile(folder)), ...checkTokenKeys(folder, listProfileRoles(folder, env))]
}

function checkRevokedTokens(file: string): DoctorFinding[] {
  const remedy = `restore ${file} from a backup: without it no token is accepted`
  if (!existsSync(file))
    return [reportProblem('tokens.revocations_missing', 'the list of revoked tokens is missing', remedy)]
  try {
    fileRevocations(file).isRevoked({ jti: 'tok_none', sub: 'nobody', iat: 0 })
  } catch {
    return [reportProblem('tokens.revocations_unreadable', 'the list of revoked tokens cannot be read', remedy)]
  }
  return [reportOk('tokens', 'the list of revoked tokens is sound')]
}

function checkTokenKeys(folder: SiteFolder, roles: readonly RoleOutline[]): DoctorFinding[] {
  const file = tokenKeysFile(folder)
  if (!existsSync(file)) {
    const remedy = `restore ${file} from a backup; a start of the role site creates one without the keys of roles`
    return [reportProblem('tokens.keys_missing', 'the list of token keys is missing; no token is accepted', remedy)]
  }
  let listedKeys: readonly TokenKey[]
  try {
    listedKeys = readTokenKeys(file)
  } catch {
    return [
      reportProblem('tokens.keys_unreadable', 'the list of token keys cannot be read', `restore ${file} from a backup`),
    ]
  }
  const activeSubjects = new Set(
    listedKeys.filter(({ status }) => status === 'active').map(({ only_subject }) => only_subject),
  )
  const keylessRoles = roles.filter(({ name }) => !activeSubjects.has(roleSubject(name)))
  if (keylessRoles.length === 0) return [reportOk('tokens', 'the list of token keys is sound')]
  return keylessRoles.map(({ name }) =>
    reportProblem(
      'tokens.role_without_key',
      `the role ${name} has no active key`,
      `platform keys generate --use token --role ${name}`,
    ),
  )
}

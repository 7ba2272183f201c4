// Whether the site can sign and its tokens be judged, today and in a month.
import { existsSync } from 'node:fs'
import { fileRevocations } from '../../../../adapters/identity/offline/revocations.ts'
import { hasWrappedKeys, listKeys } from '../../../../adapters/keys/jose/key-life.ts'
import { readTokenKeys, type TokenKey } from '../../../../adapters/keys/jose/token-keys.ts'
import { type PublicKey, publicKey } from '../../../kernel/keys.ts'
import type { Peer } from '../../../kernel/peer.ts'
import type { Role } from '../../../kernel/role.ts'
import { subjectOf } from '../../listed-keys.ts'
import { lockedKeys } from '../../locked-keys.ts'
import { revocationsOf, type SiteFolder, tokenKeysOf } from '../../site-folder.ts'
import type { Examined } from '../examination.ts'
import { ending, type Finding, fine, problem } from '../finding.ts'
import { current } from '../site-key-sets.ts'
import { list } from '../site-peers.ts'
import { rolesOf, siteSettings } from '../site-profile.ts'

const needed: readonly PublicKey['use'][] = ['message', 'token']
const uses = publicKey.shape.use.options

export async function keyFindings({ folder, now }: Examined): Promise<Finding[]> {
  const { set } = current(folder)
  const own = listKeys(folder.keys)
  // Root keys that are kept apart are known from the set that names them.
  const roots = (set?.keys ?? []).filter(({ use, kid }) => use === 'root' && !own.some((key) => key.kid === kid))
  const active = [...own, ...roots].filter(({ status }) => status === 'active')
  const missing = needed
    .filter((use) => !active.some((key) => key.use === use))
    .map((use) => problem('keys', `there is no active ${use} key`, `platform keys generate --use ${use}`))
  const endings = uses.flatMap((use) => {
    const wanted = use === 'message' || use === 'root' ? (set?.thresholds[use] ?? 1) : 1
    const isHere = ({ kid }: PublicKey) => own.some((key) => key.kid === kid)
    return endingsOf(
      active,
      use,
      wanted,
      now,
      ({ kid }) => `the key ${kid}`,
      (key) => renewal(key, isHere(key)),
    )
  })
  const ofPeers = (await list(folder)).flatMap((peer) => peerFindings(peer, now))
  const all = [...missing, ...endings, ...ofPeers]
  return all.length > 0 ? all : [fine('keys', `${active.length} active, none near its end`)]
}

function renewal({ kid, use }: PublicKey, isHere: boolean): string {
  if (!isHere) return `a new root key on a medium, then platform keys set draft --roots FILE --retire ${kid}`
  if (use === 'authority')
    return 'platform keys ca init --replace, and see that the peers pin the new one beside the old'
  if (use === 'token' || use === 'personal') return `platform keys rotate ${kid}`
  return `platform keys rotate ${kid}, and see that the peers get the new key set`
}

/** Of the active keys of one use those that end, unless so many others as are wanted go on: then they were replaced in time. */
function endingsOf(
  active: readonly PublicKey[],
  use: PublicKey['use'],
  wanted: number,
  now: number,
  named: (key: PublicKey) => string,
  remedy: (key: PublicKey) => string,
): Finding[] {
  const found = active
    .filter((key) => key.use === use)
    .map((key) => ({ key, end: key.not_after === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.not_after) }))
  const endings = found.map(({ key, end }) =>
    end === Number.POSITIVE_INFINITY ? undefined : ending('keys', named(key), end, now, remedy(key)),
  )
  const lasting = endings.filter((each) => each === undefined).length
  return lasting >= wanted ? [] : endings.flatMap((each) => each ?? [])
}

/** As at a start: whether what runs could sign. */
export async function passphraseFindings({ folder, env }: Examined): Promise<Finding[]> {
  const { keys_passphrase_file: file } = siteSettings(folder, env).identity
  const locked = await lockedKeys(folder, file)
  if (locked === undefined) return hasWrappedKeys(folder.keys) ? [fine('keys', 'the passphrase opens them')] : []
  return [
    problem('keys', locked, 'put the passphrase into a file of mode 600, and name it in identity.keys_passphrase_file'),
  ]
}

function peerFindings({ name, keys, threshold, root_threshold = 1 }: Peer, now: number): Finding[] {
  const remedy = `get ${name}’s new keys: platform peers update ${name}; where its root keys are not pinned, remove it and add it again`
  const active = keys.filter(({ status }) => status === 'active')
  if (!active.some(({ use }) => use === 'message')) {
    return [problem('keys', `${name} has no active message key here`, remedy)]
  }
  const named = ({ kid }: PublicKey) => `${name}’s key ${kid}`
  return [
    ...endingsOf(active, 'message', threshold, now, named, () => remedy),
    ...endingsOf(active, 'root', root_threshold, now, named, () => remedy),
  ]
}

/** Tokens are judged by two lists: without the one none counts, without the other none is known to be revoked. */
export function tokenFindings({ folder, env }: Examined): Finding[] {
  return [...revocationFindings(revocationsOf(folder)), ...listFindings(folder, rolesOf(folder, env))]
}

function revocationFindings(file: string): Finding[] {
  const remedy = `restore ${file} from a backup: without it no token is accepted`
  if (!existsSync(file)) return [problem('tokens', 'the list of revoked tokens is missing', remedy)]
  try {
    fileRevocations(file).isRevoked({ jti: 'tok_none', sub: 'nobody', iat: 0 })
  } catch {
    return [problem('tokens', 'the list of revoked tokens cannot be read', remedy)]
  }
  return [fine('tokens', 'the list of revoked tokens is sound')]
}

function listFindings(folder: SiteFolder, roles: readonly Role[]): Finding[] {
  const file = tokenKeysOf(folder)
  if (!existsSync(file)) {
    const remedy = `restore ${file} from a backup; a start of the role site makes one without the keys of roles`
    return [problem('tokens', 'the list of token keys is missing, so that no token is accepted', remedy)]
  }
  let listed: readonly TokenKey[]
  try {
    listed = readTokenKeys(file)
  } catch {
    return [problem('tokens', 'the list of token keys cannot be read', `restore ${file} from a backup`)]
  }
  const speaks = new Set(listed.filter(({ status }) => status === 'active').map(({ only_subject }) => only_subject))
  const silent = roles.filter(({ name }) => !speaks.has(subjectOf(name)))
  if (silent.length === 0) return [fine('tokens', 'the list of token keys is sound')]
  return silent.map(({ name }) =>
    problem('tokens', `the role ${name} has no active key`, `platform keys generate --use token --role ${name}`),
  )
}

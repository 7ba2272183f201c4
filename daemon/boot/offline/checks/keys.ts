// Whether the site can sign and its tokens be judged, today and in a month.
import { existsSync } from 'node:fs'
import { fileRevocations } from '../../../../adapters/identity/offline/revocations.ts'
import { listKeys } from '../../../../adapters/keys/jose/key-life.ts'
import { readTokenKeys, type TokenKey } from '../../../../adapters/keys/jose/token-keys.ts'
import type { PublicKey } from '../../../kernel/keys.ts'
import type { Role } from '../../../kernel/role.ts'
import { subjectOf } from '../../listed-keys.ts'
import { revocationsOf, type SiteFolder, tokenKeysOf } from '../../site-folder.ts'
import type { Examined } from '../examination.ts'
import { ending, type Finding, fine, problem } from '../finding.ts'
import { list } from '../site-peers.ts'
import { rolesOf } from '../site-profile.ts'

const needed: readonly PublicKey['use'][] = ['message', 'token']

export async function keyFindings({ folder, now }: Examined): Promise<Finding[]> {
  const active = listKeys(folder.keys).filter((key) => key.status === 'active')
  const missing = needed
    .filter((use) => !active.some((key) => key.use === use))
    .map((use) => problem('keys', `there is no active ${use} key`, `platform keys generate --use ${use}`))
  const endings = active.flatMap((key) => {
    const end = key.not_after === undefined ? undefined : Date.parse(key.not_after)
    if (end === undefined) return []
    return (
      ending('keys', `the key ${key.kid}`, end, now, `platform keys rotate ${key.kid}, then give peers the new one`) ??
      []
    )
  })
  const ofPeers = (await list(folder)).flatMap((peer) => peerFindings(peer.name, peer.keys, now))
  const all = [...missing, ...endings, ...ofPeers]
  return all.length > 0 ? all : [fine('keys', `${active.length} active, none near its end`)]
}

function peerFindings(name: string, keys: readonly PublicKey[], now: number): Finding[] {
  const remedy = `get ${name}’s new keys, compare fingerprints: platform peers remove ${name}, then add it again`
  const usable = keys.filter((key) => key.use === 'message' && key.status === 'active')
  if (usable.length === 0) return [problem('keys', `${name} has no active message key here`, remedy)]
  return usable.flatMap((key) => {
    const end = key.not_after === undefined ? undefined : Date.parse(key.not_after)
    return end === undefined ? [] : (ending('keys', `${name}’s key ${key.kid}`, end, now, remedy) ?? [])
  })
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

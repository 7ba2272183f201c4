// Key sets for commands: files that people carry between the site, the machine of the root keys, and the peers.
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { type KeySet, keySetFile, max_previous_sets } from '../../kernel/cryptography/key-set.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'
import { type KeySetChange, type KeySetDraft, listKeySetChanges, parseKeySetDraft } from './key-set-draft.ts'
import { type KeySetSigningOptions, resolveSuccessor, signKeySetDraft } from './key-set-signing.ts'
import {
  draftSiteKeySet as drafted,
  publishSiteKeySet as published,
  readCurrentKeySet,
  readShortestOverlap_s,
} from './site-key-sets.ts'
import { parseJwks } from './site-keys.ts'

export type KeySetDraftOptions = {
  readonly message_threshold: number | undefined
  readonly root_threshold: number | undefined
  /** Kids of keys to retire: message keys end after the overlap, root keys at once. */
  readonly retire: readonly string[]
  /** Kids of compromised root keys. */
  readonly revoke: readonly string[]
  /** Seconds; default: the shortest allowed. */
  readonly overlap_s: number | undefined
  /** Texts of JWKS with public halves of root keys that are kept elsewhere. */
  readonly roots: readonly string[]
  /** Epoch milliseconds. */
  readonly now: number
}

/** Drafts the next set. Throws `OfflineCommandError` for a key that is not the site's. */
export async function draftKeySet(
  folder: SiteFolder,
  env: EnvironmentVariables,
  terms: KeySetDraftOptions,
): Promise<KeySetDraftReview> {
  const { retire, revoke, roots, now } = terms
  const externalRoots = roots.flatMap(parseRootKeys)
  const overlap_s = terms.overlap_s ?? (await readShortestOverlap_s(folder))
  const not_after = new Date(now + overlap_s * 1_000).toISOString()
  const keyChanges = {
    ...Object.fromEntries(
      retire.map((kid) => [kid, kid.startsWith('root-') ? { status: 'retired' as const } : { not_after }]),
    ),
    ...Object.fromEntries(revoke.map((kid) => [kid, { status: 'revoked' as const }])),
  }
  const thresholds = { message: terms.message_threshold, root: terms.root_threshold }
  const draft = await drafted(folder, env, { thresholds, key_changes: keyChanges, external_roots: externalRoots, now })
  const { before, after } = await resolveSuccessor(draft)
  const knownKids = new Set(
    [...listKeys(folder.keys), ...(before?.keys ?? []), ...after.keys].filter(isPinnedUse).map(({ kid }) => kid),
  )
  const unknownKid = [...retire, ...revoke].find((kid) => !knownKids.has(kid))
  if (unknownKid)
    throw new OfflineCommandError(
      1,
      `the site has no key ${unknownKid} that peers pin`,
      '`platform keys list` lists its keys',
    )
  return { draft, set: after, changes: listKeySetChanges(before, after) }
}

function parseRootKeys(text: string): PublicKey[] {
  const draft = parseJwks(text).filter(({ use, status }) => use === 'root' && status === 'active')
  if (draft.length === 0) throw new OfflineCommandError(2, 'a file of --roots contains no active root key')
  return draft
}

function isPinnedUse({ use }: PublicKey): boolean {
  return use === 'message' || use === 'root'
}

export type KeySetDraftReview = { readonly draft: KeySetDraft; readonly set: KeySet; readonly changes: KeySetChange[] }

/**
 * Parses a draft and lists its changes. Throws `OfflineCommandError` for text that is not a draft, and for a set that
 * is not a successor.
 */
export async function reviewKeySetDraft(text: string): Promise<KeySetDraftReview> {
  const draft = parseKeySetDraft(text)
  if (!draft)
    throw new OfflineCommandError(
      2,
      'the file is not a draft of a key set',
      '`platform keys set draft --out FILE` makes one',
    )
  const { before, after } = await resolveSuccessor(draft)
  return { draft, set: after, changes: listKeySetChanges(before, after) }
}

/** Signs with the root keys of a folder. Throws `OfflineCommandError`, and `KeyLockedError`. */
export async function signKeySet(dir: string, options: KeySetSigningOptions) {
  return await runAsInvoker(() => signKeySetDraft(dir, options))
}

export async function publishKeySet(
  folder: SiteFolder,
  env: EnvironmentVariables,
  options: KeySetDraft,
  now: number,
): Promise<KeySet> {
  return await published(folder, env, options, now)
}

/** Returns the current set and the file for peers; undefined for a site without a set. */
export function exportCurrentKeySet(folder: Pick<SiteFolder, 'keys'>) {
  const { sets, set } = readCurrentKeySet(folder)
  if (!set) return undefined
  const file = keySetFile.parse({ v: 1, type: 'platform.keyset-file', sets: sets.slice(-max_previous_sets) })
  const keys: readonly PublicKey[] = set.keys
  return { set, keys, file }
}

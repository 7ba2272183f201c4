// Key sets for the command line: files that people carry between the site, the machine of the root keys, and the peers.
import { listKeys } from '../../../adapters/keys/jose/key-life.ts'
import { type KeySet, keySetFile, most_before } from '../../kernel/key-set.ts'
import type { PublicKey } from '../../kernel/keys.ts'
import { asInvoker } from '../acting.ts'
import type { SiteFolder } from '../site-folder.ts'
import { type Change, changesOf, type KeySetDraft, readDraft } from './key-set-draft.ts'
import { type Signing, signDraft, successorIn } from './key-set-signing.ts'
import { Objection } from './objection.ts'
import { current, draft as drafted, publish as published, shortestOverlap_s } from './site-key-sets.ts'
import { keysIn } from './site-keys.ts'
import type { Environment } from './site-profile.ts'

export type DraftTerms = {
  readonly message_threshold: number | undefined
  readonly root_threshold: number | undefined
  /** Kids: message keys that end after the overlap, root keys that sign no more. */
  readonly retire: readonly string[]
  /** Kids of root keys that others may have. */
  readonly revoke: readonly string[]
  /** Seconds; the shortest that is allowed unless said. */
  readonly overlap_s: number | undefined
  /** Texts of JWKS with public halves of root keys that are kept elsewhere. */
  readonly roots: readonly string[]
  /** Epoch milliseconds. */
  readonly now: number
}

/** Throws `Objection` for a key that is not the site's. */
export async function draft(folder: SiteFolder, env: Environment, terms: DraftTerms): Promise<Drafted> {
  const { retire, revoke, roots, now } = terms
  const more = roots.flatMap(rootsIn)
  const overlap_s = terms.overlap_s ?? (await shortestOverlap_s(folder))
  const not_after = new Date(now + overlap_s * 1_000).toISOString()
  const becomes = {
    ...Object.fromEntries(
      retire.map((kid) => [kid, kid.startsWith('root-') ? { status: 'retired' as const } : { not_after }]),
    ),
    ...Object.fromEntries(revoke.map((kid) => [kid, { status: 'revoked' as const }])),
  }
  const thresholds = { message: terms.message_threshold, root: terms.root_threshold }
  const made = await drafted(folder, env, { thresholds, becomes, more, now })
  const { before, after } = await successorIn(made)
  const known = new Set(
    [...listKeys(folder.keys), ...(before?.keys ?? []), ...after.keys].filter(isPinned).map(({ kid }) => kid),
  )
  const strange = [...retire, ...revoke].find((kid) => !known.has(kid))
  if (strange)
    throw new Objection(1, `the site has no key ${strange} that peers pin`, '`platform keys list` shows its keys')
  return { draft: made, set: after, changes: changesOf(before, after) }
}

function rootsIn(text: string): PublicKey[] {
  const found = keysIn(text).filter(({ use, status }) => use === 'root' && status === 'active')
  if (found.length === 0) throw new Objection(2, 'a file that --roots names holds no active root key')
  return found
}

function isPinned({ use }: PublicKey): boolean {
  return use === 'message' || use === 'root'
}

export type Drafted = { readonly draft: KeySetDraft; readonly set: KeySet; readonly changes: Change[] }

/** What a draft says and changes. Throws `Objection` for text that is none, and for what does not follow. */
export async function read(text: string): Promise<Drafted> {
  const found = readDraft(text)
  if (!found) throw new Objection(2, 'this is no draft of a key set', '`platform keys set draft` makes one')
  const { before, after } = await successorIn(found)
  return { draft: found, set: after, changes: changesOf(before, after) }
}

/** With the root keys of a folder that a person named. Throws `Objection`, and `Locked`. */
export async function sign(dir: string, given: Signing) {
  return await asInvoker(() => signDraft(dir, given))
}

export async function publish(folder: SiteFolder, env: Environment, given: KeySetDraft, now: number): Promise<KeySet> {
  return await published(folder, env, given, now)
}

/** The set in force, and the file that peers take it from; undefined for a site that has none. */
export function inForce(folder: Pick<SiteFolder, 'keys'>) {
  const { sets, set } = current(folder)
  if (!set) return undefined
  const file = keySetFile.parse({ v: 1, type: 'platform.keyset-file', sets: sets.slice(-most_before) })
  const keys: readonly PublicKey[] = set.keys
  return { set, keys, file }
}

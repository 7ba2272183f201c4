// People for commands: enrolled by the public half of a key that only they have, listed, and let go of.
import { peopleFiles } from '../../../adapters/peers/files/people-files.ts'
import type { PublicKey } from '../../kernel/keys.ts'
import { inOneLine, parseBy } from '../../kernel/parsing.ts'
import { type Person, personalKey, person as personSchema } from '../../kernel/person.ts'
import { peopleOf, type SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import { keysIn, list as ownKeys } from './site-keys.ts'
import type { Environment } from './site-profile.ts'

/** The keys of an exported file that a person may be enrolled by. Throws `Objection` when there is none. */
export function personalKeys(text: string): PublicKey[] {
  const keys = keysIn(text).filter(({ use, status }) => use === 'personal' && status === 'active')
  if (keys.length > 0) return keys
  throw new Objection(
    2,
    'the file holds no active personal key',
    '`platform keys generate --use personal --dir DIR` makes one, `platform keys export --dir DIR` the file',
  )
}

export type NewPerson = {
  readonly subject: string
  readonly key: PublicKey
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Enrols a person, or gives one who was let go a new key. Throws `Objection` for a subject that has a key, and for a key
 * that is, or ever was, anybody's here: two people are two keys.
 */
export async function add(folder: SiteFolder, env: Environment, given: NewPerson): Promise<Person> {
  const { subject, key, now } = given
  const files = peopleFiles(peopleOf(folder))
  const enrolled = await files.list()
  const before = enrolled.find((each) => each.subject === subject)
  if (before && activeKeyOf(before)) {
    throw new Objection(3, `${subject} is enrolled already`, `platform people remove ${subject}, to enrol another key`)
  }
  const { fingerprint } = key
  const owner = enrolled.find(({ keys }) => keys.some((known) => known.fingerprint === fingerprint))
  if (owner) throw new Objection(3, `this key is, or was, that of ${owner.subject}; it can be nobody’s again`)
  if (ownKeys(folder).some((own) => own.fingerprint === fingerprint)) {
    throw new Objection(
      3,
      'the private half of this key lies in the site’s own key folder; a person keeps theirs alone',
    )
  }
  const checked = parseBy(personSchema, {
    subject,
    keys: [...(before?.keys ?? []), personalKey.parse(key)],
    enrolled: new Date(now).toISOString(),
  })
  if (!checked.success) throw new Objection(2, `this person cannot be enrolled: ${inOneLine(checked.errors)}`)
  await files.put(checked.data)
  await record(folder, env, { action: 'site.person.add', target: subject, detail: { fingerprint } })
  return checked.data
}

/** By subject. */
export async function list(folder: SiteFolder): Promise<Person[]> {
  const all = await peopleFiles(peopleOf(folder)).list()
  return all.sort((a, b) => (a.subject < b.subject ? -1 : 1))
}

/** Throws `Objection` (1) when nobody of this subject is enrolled. */
export async function get(folder: SiteFolder, subject: string): Promise<Person> {
  const found = (await list(folder)).find((each) => each.subject === subject && activeKeyOf(each))
  if (found) return found
  throw new Objection(1, `${subject} is not enrolled`, '`platform people list` shows who is')
}

/** Revokes the person's key at once. The record stays: for what it signed, and so that the key is never enrolled again. */
export async function remove(folder: SiteFolder, env: Environment, subject: string): Promise<void> {
  const found = await get(folder, subject)
  const keys = found.keys.map((key) => ({ ...key, status: 'revoked' as const }))
  await peopleFiles(peopleOf(folder)).put({ ...found, keys })
  const fingerprint = activeKeyOf(found)?.fingerprint
  await record(folder, env, { action: 'site.person.remove', target: subject, detail: { fingerprint } })
}

/** What counts as the person's own signature; undefined for one who was let go. */
export function activeKeyOf({ keys }: Person): PublicKey | undefined {
  return keys.find(({ status }) => status === 'active')
}

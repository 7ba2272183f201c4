// Finds the version of a lens that a request means: by its uid or its name, and by version or the newest.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { lenses, lensUid, type StoredLens } from './stored-lens.ts'

/** With a uid the version is that one's unless said, with a name the newest that the caller may see. */
export async function findLens(
  call: Call,
  lens_id: string,
  lens_version: string | undefined,
): Promise<Doc<StoredLens> | Refusal> {
  const store = call.store(lenses)
  const exact = await store.find(lens_id)
  if (exact && (lens_version === undefined || lens_version === exact.value.lens_version)) return exact
  const name = exact?.value.lens ?? lens_id
  const found = lens_version
    ? await store.find(lensUid(call.caller.tenant_id, name, lens_version))
    : await findNewestVersion(call, name)
  return (
    found ??
    refuse(
      'not_found',
      lens_version ? `this lens has no version ${lens_version}` : 'no lens has this uid or name; list the lenses',
    )
  )
}

async function findNewestVersion(call: Call, lens: string): Promise<Doc<StoredLens> | undefined> {
  let best: Doc<StoredLens> | undefined
  let cursor: string | undefined
  // A version that was kept just now is the newest already.
  const query = { filter: { lens }, limit: 500, fresh: true }
  do {
    const page = await call.store(lenses).list({ ...query, ...(cursor ? { cursor } : {}) })
    for (const doc of page.docs) {
      if (!best || isLaterVersion(doc.value.lens_version, best.value.lens_version)) best = doc
    }
    cursor = page.next_cursor
  } while (cursor)
  return best
}

/** Of versions as 1.10.0, by their numbers. */
function isLaterVersion(one: string, other: string): boolean {
  const [ours, theirs] = [one, other].map((version) => version.split('.').map(Number))
  const at = ours?.findIndex((number, place) => number !== theirs?.[place]) ?? -1
  return at >= 0 && (ours?.[at] ?? 0) > (theirs?.[at] ?? 0)
}

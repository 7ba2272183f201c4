// Finds the version of a lens that a request means: by its uid or its name, and by version or the newest.
import type { Call } from '../../../kernel/call.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { lenses, lensUid, type StoredLens } from './stored.ts'

/** With a uid the version is that one's unless said, with a name the newest that the caller may see. */
export async function lensNamed(
  call: Call,
  lens_id: string,
  lens_version: string | undefined,
): Promise<Doc<StoredLens> | Refused> {
  const store = call.store(lenses)
  const exact = await store.find(lens_id)
  if (exact && (lens_version === undefined || lens_version === exact.value.lens_version)) return exact
  const name = exact?.value.lens ?? lens_id
  const found = lens_version
    ? await store.find(lensUid(call.caller.tenant_id, name, lens_version))
    : await newest(call, name)
  return (
    found ??
    refuse('not_found', lens_version ? `there is no version ${lens_version} of this lens` : 'there is no such lens')
  )
}

async function newest(call: Call, lens: string): Promise<Doc<StoredLens> | undefined> {
  let best: Doc<StoredLens> | undefined
  let cursor: string | undefined
  // A version that was kept just now is the newest already.
  const query = { filter: { lens }, limit: 500, fresh: true }
  do {
    const page = await call.store(lenses).list({ ...query, ...(cursor ? { cursor } : {}) })
    for (const doc of page.docs) {
      if (!best || isLater(doc.value.lens_version, best.value.lens_version)) best = doc
    }
    cursor = page.next_cursor
  } while (cursor)
  return best
}

/** Of versions as 1.10.0, by their numbers. */
function isLater(one: string, other: string): boolean {
  const [ours, theirs] = [one, other].map((version) => version.split('.').map(Number))
  const at = ours?.findIndex((number, place) => number !== theirs?.[place]) ?? -1
  return at >= 0 && (ours?.[at] ?? 0) > (theirs?.[at] ?? 0)
}

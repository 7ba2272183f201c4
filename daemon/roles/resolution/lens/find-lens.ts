// Finds the version of a lens that a request names: by uid or name, and by version or else the newest.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { noSuchObject } from '../../../kernel/error/missing-object.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { lenses, lensUid, type StoredLens } from './stored-lens.ts'

/** Without `lens_version`: the version of the uid, or for a name the newest version that the caller may see. */
export async function findLens(
  call: Call,
  lens_id: string,
  lens_version: string | undefined,
): Promise<Doc<StoredLens> | Refusal> {
  const store = call.store(lenses)
  const exact = await store.find(lens_id)
  if (exact && (lens_version === undefined || lens_version === exact.value.lens_version)) return exact
  const name = exact?.value.lens ?? lens_id
  const doc = lens_version
    ? await findVersion(call, call.caller.tenant_id, { lens: name, lens_version })
    : await findNewestVersion(call, name)
  if (doc) return doc
  if (lens_version === undefined) return noSuchObject('lens')
  return refuse('not_found', `this lens has no version ${lens_version}; list the lenses to see its versions`)
}

/** The version under its first id, or else under another that the caller may see. `digest`: of its body. */
export async function findVersion(
  call: Call,
  tenant_id: string,
  { lens, lens_version, digest }: { lens: string; lens_version: string; digest?: string },
): Promise<Doc<StoredLens> | undefined> {
  const first = await call.store(lenses).find(lensUid(tenant_id, lens, lens_version))
  if (first && (digest === undefined || first.value.digest === digest)) return first
  const filter = { tenant_id, lens, lens_version }
  for await (const doc of iterateDocuments(call.store(lenses), { filter, fresh: true }))
    if (digest === undefined || doc.value.digest === digest) return doc
  return first
}

async function findNewestVersion(call: Call, lens: string): Promise<Doc<StoredLens> | undefined> {
  let best: Doc<StoredLens> | undefined
  // `fresh`, so that a version stored just before is included.
  for await (const doc of iterateDocuments(call.store(lenses), { filter: { lens }, fresh: true })) {
    if (!best || isLaterVersion(doc.value.lens_version, best.value.lens_version)) best = doc
  }
  return best
}

/** Compares versions such as 1.10.0 number by number. */
function isLaterVersion(candidate: string, current: string): boolean {
  const [left, right] = [candidate, current].map((version) => version.split('.').map(Number))
  const at = left?.findIndex((number, index) => number !== right?.[index]) ?? -1
  return at >= 0 && (left?.[at] ?? 0) > (right?.[at] ?? 0)
}
